import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Principal } from '@svc/contract/trust.ts';
import type { UsagePerson } from '@svc/contract/usage.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { HandleSums } from './sum-usage.ts';
import { addSums, noSums } from './turn-sums.ts';
import { usageIdentity } from './usage-store.ts';

export type Linked = Pick<Principal, 'key' | 'display_name'> & { identifiers: readonly { surface: string; value: string }[] };

/**
 * One row for each person. What was recorded with a principal is theirs, also when the handle was unlinked later; what a
 * handle used before it was linked is theirs from then on. Everybody else is their own handle, whatever case it is written in.
 */
export function foldPeople(handles: readonly HandleSums[], principals: readonly Linked[]): UsagePerson[] {
  const owners = ownersOf(principals);
  const names = new Map(principals.map(({ key, display_name }) => [key, display_name]));
  const people = new Map<string, UsagePerson>();
  for (const row of handles) {
    const principal = row.principal || (owners.get(handleKey(row.surface, row.identity)) ?? null);
    const key = principal === null ? handleKey(row.surface, row.identity) : compositeKey(principal);
    const person = people.get(key) ?? noUse(principal, principal === null ? null : (names.get(principal) ?? null));
    people.set(key, person);
    add(person, row);
  }
  return [...people.values()].toSorted((a, b) => b.cost_usd - a.cost_usd || tokensOf(b) - tokensOf(a));
}

const handleKey = (surface: string, identity: string): string => compositeKey(surface, usageIdentity(null, identity));
const tokensOf = ({ input_tokens, output_tokens }: UsagePerson): number => input_tokens + output_tokens;

/** Handles that differ in case alone may be those of two people; what is ambiguous is given to neither. */
function ownersOf(principals: readonly Linked[]): Map<string, string | null> {
  const owners = new Map<string, string | null>();
  for (const { key, identifiers } of principals) {
    for (const { surface, value } of identifiers) {
      const handle = handleKey(surface, value);
      owners.set(handle, owners.has(handle) && owners.get(handle) !== key ? null : key);
    }
  }
  return owners;
}

const noUse = (principal: string | null, name: string | null): UsagePerson => ({
  principal,
  name,
  handles: [],
  ...noSums(),
});

function add(person: UsagePerson, row: HandleSums): void {
  const { surface, identity } = row;
  if (!person.handles.some((known) => known.surface === surface && known.identity === identity))
    person.handles.push({ surface, identity });
  addSums(person, row);
}

export type PrincipalReader = () => Promise<readonly Linked[] | null>;

const timeoutMs = 2000;

/** Asks the core who is linked to whom; null when it is away. */
export function createPrincipalReader(coreUrl: string): PrincipalReader {
  return async () => {
    const answer = await requestJson<{ principals?: Linked[] }>(`${coreUrl}/trust/principals`, { timeoutMs }).catch(() => null);
    return answer?.status === 200 ? (answer.body.principals ?? null) : null; // without it, what was recorded is shown
  };
}
