import type { Principal } from '@svc/contract/trust.ts';

const mostLetters = 40;

/** A person's key for commands: an unused one from the plain letters of the name. Without any, it is `guest`, as in the core. */
export function freeKeyOf(name: string, people: readonly Pick<Principal, 'key'>[]): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, mostLetters)
    .replaceAll(/^-+|-+$/g, '');
  const base = plain === '' ? 'guest' : plain;
  const taken = new Set(people.map(({ key }) => key.toLowerCase()));
  for (let number = 1; ; number++) {
    const key = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(key)) return key;
  }
}
