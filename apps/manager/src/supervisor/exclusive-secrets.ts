import { hash } from 'node:crypto';

/** Which instance uses a value that only one may use at a time: two bots with the same token take each other's messages. */
export type ExclusiveSecrets = {
  /** Claims the value for an instance. Returns the id of another one that has it, or null if this one has it now. */
  claim(value: string, id: string): string | null;
  /** The process of an instance has ended. */
  release(id: string): void;
};

export function createExclusiveSecrets(): ExclusiveSecrets {
  /** By digest: the values themselves are not kept. */
  const holders = new Map<string, string>();
  return {
    claim(value, id) {
      const digest = hash('sha256', value);
      const holder = holders.get(digest) ?? id;
      holders.set(digest, holder);
      return holder === id ? null : holder;
    },
    release(id) {
      for (const [digest, holder] of holders) if (holder === id) holders.delete(digest);
    },
  };
}
