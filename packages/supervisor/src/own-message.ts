/** Messages from a child that are for its supervisor only. */
export type OwnMessage = { type: 'ready'; fields: Record<string, unknown> } | { type: 'failed'; message: string };

/** Null for messages that are not for the supervisor. They come from another program, so nothing about them is assumed. */
export function readOwnMessage(message: unknown): OwnMessage | null {
  if (typeof message !== 'object' || message === null) return null;
  const { type, ...fields } = message as Record<string, unknown>;
  if (type === 'ready') return { type, fields };
  if (type !== 'failed') return null;
  return { type, message: typeof fields['message'] === 'string' ? fields['message'] : 'failed without giving a reason' };
}
