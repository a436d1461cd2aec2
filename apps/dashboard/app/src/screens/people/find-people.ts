import type { Principal } from '@svc/contract/trust.ts';

/** The people whose names, identifiers or roles have all of the words, ignoring case. */
export function findPeople(people: readonly Principal[], text: string): readonly Principal[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length === 0 ? people : people.filter((person) => words.every((word) => textOf(person).includes(word)));
}

/** Person objects are never mutated, so the cached text stays valid. */
const texts = new WeakMap<Principal, string>();

function textOf(person: Principal): string {
  let text = texts.get(person);
  if (text === undefined) {
    const { id, key, display_name: name, identifiers, grants } = person;
    const known = identifiers.map(({ surface, value }) => `${surface} ${value}`);
    text = [name, key, id, ...known, ...grants.map(({ role }) => role)].join('\n').toLowerCase();
    texts.set(person, text);
  }
  return text;
}
