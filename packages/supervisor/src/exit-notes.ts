/** What is found out about the reason of an exit after it happened. */
export type ExitNotes = {
  /** Never rejects; what cannot be found out stays as it was said. */
  lookInto(reason: string): Promise<void>;
  /** The reason, with more about it where there is more. */
  read(reason: string): string;
};

export function createExitNotes(explain: (reason: string) => Promise<string | null>): ExitNotes {
  let noted: { reason: string; text: string } | null = null;
  return {
    async lookInto(reason) {
      const text = await explain(reason).catch(() => null);
      if (text !== null) noted = { reason, text };
    },
    read: (reason) => (noted?.reason === reason ? noted.text : reason),
  };
}
