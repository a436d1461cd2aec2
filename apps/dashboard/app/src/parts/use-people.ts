import type { Principal } from '@svc/contract/trust.ts';
import { useApi } from './query.ts';

type Of = Pick<Principal, 'id' | 'key'>;

/** Looks people up: what they are called, in place of the key or the number that something has of them. */
export type People = {
  /** The name of the one with this id or key; what was given where nobody has it. */
  nameOf(idOrKey: string): string;
  /** Who writes under this name or number on a channel. */
  writingAs(surface: string, value: string): Principal | undefined;
};

export function usePeople(): People {
  const { data } = useApi<{ principals: Principal[] }>('/core/trust/principals');
  const people = data?.principals ?? [];
  const isNamed = ({ id, key }: Of, named: string) => id === named || key === named;
  return {
    nameOf: (named) => people.find((person) => isNamed(person, named))?.display_name ?? named,
    writingAs: (surface, value) =>
      people.find(({ identifiers }) => identifiers.some((own) => own.surface === surface && own.value === value)),
  };
}
