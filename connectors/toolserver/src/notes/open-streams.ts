/** Shows a text to a client that listens right now. Rejects when it could not. */
export type Tell = (text: string) => Promise<void>;

/** The clients that listen, by user: legacy streams, and calls that wait for their answer. */
export type OpenStreams = {
  /** The returned function is called when the client is gone. */
  add(userId: string, tell: Tell): () => void;
  /** Shows a text on every stream of a user; false when none took it. */
  tell(userId: string, text: string): Promise<boolean>;
};

export function createOpenStreams(): OpenStreams {
  const open = new Map<string, Set<Tell>>();
  return {
    add(userId, tell) {
      const tells = open.get(userId) ?? new Set<Tell>();
      open.set(userId, tells.add(tell));
      return () => {
        tells.delete(tell);
        if (tells.size === 0 && open.get(userId) === tells) open.delete(userId);
      };
    },
    async tell(userId, text) {
      const told = await Promise.allSettled([...(open.get(userId) ?? [])].map(async (tell) => tell(text)));
      return told.some(({ status }) => status === 'fulfilled');
    },
  };
}

/** The notification that carries a text to a client. */
export const toNotification = (text: string) =>
  ({ method: 'notifications/message', params: { level: 'notice', logger: 'assistant', data: text } }) as const;
