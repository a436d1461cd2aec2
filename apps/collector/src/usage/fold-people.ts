import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Principal } from '@svc/contract/trust.ts';
import type { UsagePerson } from '@svc/contract/usage.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { HandleSums } from './sum-usage.ts';
import { addSums, noSums } from './turn-sums.ts';
import { unknownIdentity } from './usage-store.ts';

export type Linked = Pick<Principal, 'key' | 'display_name'> & { identifiers: readonly { surface: string; value: string }[] };

/**
 * One row for each person. A handle belongs to the person to whom it is linked now, including its earlier usage; one that
 * is no longer linked belongs to the person of that time. Any other handle is a row of its own, regardless of case.
 */
export function foldPeople(handles: readonly HandleSums[], principals: readonly Linked[]): UsagePerson[] {
  const ownerOf = createOwners(principals);
  const names = new Map(principals.map(({ key, display_name }) => [key, display_name]));
  const people = new Map<string, UsagePerson>();
  for (const row of handles) {
    const principal = isOfPrincipal(row) ? row.principal : ownerOf(row) || row.principal || null;
    const key = principal === null ? foldedKey(row.surface, row.identity) : compositeKey(principal);
    const person = people.get(key) ?? noUse(principal, principal === null ? null : (names.get(principal) ?? null));
    people.set(key, person);
    add(person, row);
  }
  return [...people.values()].toSorted((a, b) => b.cost_usd - a.cost_usd || tokensOf(b) - tokensOf(a));
}

/** Earlier versions stored the principal without a handle; usage without a sender has no handle either. */
const isOfPrincipal = ({ identity, principal }: HandleSums): boolean =>
  principal !== '' && (identity === principal || identity === unknownIdentity);

const folded = (identity: string): string => identity.trim().toLowerCase();
const foldedKey = (surface: string, identity: string): string => compositeKey(surface, folded(identity));
const tokensOf = ({ input_tokens, output_tokens }: UsagePerson): number => input_tokens + output_tokens;

/** Exact matches first. Handles that differ only in case may belong to two people; an ambiguous one is assigned to neither. */
function createOwners(principals: readonly Linked[]): (row: HandleSums) => string | null {
  const exact = new Map<string, string>();
  const byFold = new Map<string, string | null>();
  for (const { key, identifiers } of principals) {
    for (const { surface, value } of identifiers) {
      exact.set(compositeKey(surface, value), key);
      const handle = foldedKey(surface, value);
      byFold.set(handle, byFold.has(handle) && byFold.get(handle) !== key ? null : key);
    }
  }
  return ({ surface, identity }) =>
    exact.get(compositeKey(surface, identity)) ?? byFold.get(foldedKey(surface, identity)) ?? null;
}

const noUse = (principal: string | null, name: string | null): UsagePerson => ({
  principal,
  name,
  handles: [],
  ...noSums(),
});

function add(person: UsagePerson, row: HandleSums): void {
  const { surface } = row;
  const identity = folded(row.identity);
  if (!person.handles.some((known) => known.surface === surface && known.identity === identity))
    person.handles.push({ surface, identity });
  addSums(person, row);
}

export type PrincipalReader = () => Promise<readonly Linked[] | null>;

const timeoutMs = 2000;

type Page = { principals?: Linked[]; next?: string | null };
/** A thousand people each. */
const maxPages = 100;

/** Reads from the core which handle is linked to whom; null if the core does not answer. */
export function createPrincipalReader(coreUrl: string): PrincipalReader {
  const readPage = async (after: string): Promise<Page | null> => {
    const url = `${coreUrl}/trust/principals?after=${encodeURIComponent(after)}`;
    const answer = await requestJson<Page>(url, { timeoutMs }).catch(() => null);
    return answer?.status === 200 ? answer.body : null; // without it, what was recorded is shown
  };
  return async () => {
    const principals: Linked[] = [];
    let after: string | null = '';
    for (let pages = 0; after !== null && pages < maxPages; pages++) {
      const page: Page | null = await readPage(after);
      if (page?.principals === undefined) return null;
      principals.push(...page.principals);
      after = page.next ?? null;
    }
    return principals;
  };
}
