import { hash } from 'node:crypto';

/** Which instance uses a value that only one may use at a time: two bots on one token take each other's messages. */
export type ExclusiveSecrets = {
  /** Takes the value for an instance; gives the id of the one that has it, null when it is this one's now. */
  claim(value: string, id: string): string | null;
  /** The process of an instance has ended. */
  release(id: string): void;
};

export function createExclusiveSecrets(): ExclusiveSecrets {
  /** By digest: values are held nowhere. */
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
