import type { Principal } from '@svc/contract/trust.ts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
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

/** Whom a row is of: the person, and where nobody is known, who wrote. */
type Written = { principal: string | null; identity: string | null };

/** Looks people up: what they are called, in place of the key or the number that something has of them. */
export type People = {
  /** The name of the one with this id or key; what was given where nobody has it. */
  nameOf(idOrKey: string): string;
  /** The name of whom a row is of; null for nobody. */
  nameIn(row: Written): string | null;
  /** Who writes under this name or number on a channel. */
  writingAs(surface: string, value: string): Principal | undefined;
};

const nobody: readonly Principal[] = [];

export function usePeople(): People {
  const { data } = useEverybody();
  const people = data?.principals ?? nobody;
  return useMemo(() => {
    const names = new Map(people.flatMap(({ id, key, display_name: name }) => [id, key].map((own) => [own, name])));
    const nameOf = (named: string) => names.get(named) ?? named;
    return {
      nameOf,
      nameIn: ({ principal, identity }) => (principal === null ? identity : nameOf(principal)),
      writingAs: (surface, value) =>
        people.find(({ identifiers }) => identifiers.some((own) => own.surface === surface && own.value === value)),
    };
  }, [people]);
}
