import type { Principal } from '@svc/contract/trust.ts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get, withQuery } from './api.ts';

const path = '/core/trust/principals';
type Everybody = { principals: Principal[] };

/** All people, page by page: finding a person, and counting those with a role, needs everyone. */
export const useAllPeople = (isWanted = true): UseQueryResult<Everybody> =>
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

/** Whom a row is about: the person, or the sender where the person is not known. */
type Written = { principal: string | null; identity: string | null };

/** Looks up the names of people by their key, id or number on a channel. */
export type People = {
  /** The name of the person with this id or key; the argument itself where there is none. */
  nameOf(idOrKey: string): string;
  /** The name of the person that a row is about; null for none. */
  nameIn(row: Written): string | null;
  /** The person who writes under this name or number on a channel. */
  writingAs(surface: string, value: string): Principal | undefined;
};

const nobody: readonly Principal[] = [];

export function usePeople(): People {
  const { data } = useAllPeople();
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
