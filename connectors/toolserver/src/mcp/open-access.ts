/** Calls and event streams that outlast the token check of a client. They end when the client is revoked. */
export type OpenAccess = {
  /** `end` is called when the client is revoked. The returned function is called when it is over by itself. */
  begin(clientId: string, end: () => void): () => void;
  endAll(clientId: string): void;
};

export function createOpenAccess(): OpenAccess {
  const open = new Map<string, Set<() => void>>();
  return {
    begin(clientId, end) {
      const ends = open.get(clientId) ?? new Set();
      open.set(clientId, ends.add(end));
      return () => {
        ends.delete(end);
        if (ends.size === 0 && open.get(clientId) === ends) open.delete(clientId);
      };
    },
    endAll(clientId) {
      for (const end of open.get(clientId) ?? []) end();
    },
  };
}
