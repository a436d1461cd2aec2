/** What a child says to its supervisor alone. */
export type OwnMessage = { type: 'ready'; fields: Record<string, unknown> } | { type: 'failed'; message: string };

/** Null for a message that is meant for others. Another program sent it, so nothing in it is taken for granted. */
export function readOwnMessage(message: unknown): OwnMessage | null {
  if (typeof message !== 'object' || message === null) return null;
  const { type, ...fields } = message as Record<string, unknown>;
  if (type === 'ready') return { type, fields };
  if (type !== 'failed') return null;
  return { type, message: typeof fields['message'] === 'string' ? fields['message'] : 'failed without saying why' };
}
