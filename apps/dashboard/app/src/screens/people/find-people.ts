import type { Principal } from '@svc/contract/trust.ts';

/** Those with all of the words in their names, in what they are known by, or in their roles; case does not matter. */
export function findPeople(people: readonly Principal[], text: string): readonly Principal[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return words.length === 0 ? people : people.filter((person) => words.every((word) => textOf(person).includes(word)));
}

/** A person is never changed, so what was made of one holds. */
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
