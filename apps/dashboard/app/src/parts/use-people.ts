import type { Principal } from '@svc/contract/trust.ts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get, withQuery } from './api.ts';

const path = '/core/trust/principals';
type Everybody = { principals: Principal[] };

/** Everybody, page after page: who looks for one person, or counts those with a role, needs them all. */
export const useEverybody = (isWanted = true): UseQueryResult<Everybody> =>
  useQuery<Everybody>({
    queryKey: [path],
    queryFn: async ({ signal }) => {
      const principals: Principal[] = [];
      for (let after: string | null = ''; after !== null;) {
        const page: Everybody & { next: string | null } = await get(withQuery(path, { after }), signal);
        principals.push(...page.principals);
        after = page.next;
      }
      return { principals };
    },
    enabled: isWanted,
  });

type Of = Pick<Principal, 'id' | 'key'>;

/** Looks people up: what they are called, in place of the key or the number that something has of them. */
export type People = {
  /** The name of the one with this id or key; what was given where nobody has it. */
  nameOf(idOrKey: string): string;
  /** Who writes under this name or number on a channel. */
  writingAs(surface: string, value: string): Principal | undefined;
};

export function usePeople(): People {
  const { data } = useEverybody();
  const people = data?.principals ?? [];
  const isNamed = ({ id, key }: Of, named: string) => id === named || key === named;
  return {
    nameOf: (named) => people.find((person) => isNamed(person, named))?.display_name ?? named,
    writingAs: (surface, value) =>
      people.find(({ identifiers }) => identifiers.some((own) => own.surface === surface && own.value === value)),
  };
}
