/** Which turn holds a thread: the last one that opened it. A turn that was abandoned may still hold one when the next turn opens it. */
export type ThreadHolds<Thread extends { id: string }> = {
  /** True when a turn holds the thread, once that turn has loaded it. */
  isHeld(id: string): Promise<boolean>;
  /** A turn loads a thread, and holds it from now on. `id`: null for a new one. */
  take(id: string | null, opening: Promise<Thread>): Promise<Thread>;
  /** The turn is over. False when another one holds its thread by now. */
  end(thread: Thread): boolean;
};

export function createThreadHolds<Thread extends { id: string }>(): ThreadHolds<Thread> {
  /** `thread`: null while it is loaded. */
  const held = new Map<string, { opening: Promise<Thread>; thread: Thread | null }>();
  return {
    isHeld: async (id) =>
      held.get(id)?.opening.then(
        () => true,
        () => false,
      ) ?? false,
    async take(id, opening) {
      const hold = { opening, thread: null as Thread | null };
      if (id !== null) held.set(id, hold);
      try {
        hold.thread = await opening;
        if (hold.thread.id !== id) held.set(hold.thread.id, hold);
        return hold.thread;
      } finally {
        // It could not be loaded, or a new one took its place.
        if (id !== null && hold.thread?.id !== id && held.get(id) === hold) held.delete(id);
      }
    },
    end: (thread) => held.get(thread.id)?.thread === thread && held.delete(thread.id),
  };
}
