import { compositeKey } from '@svc/service-kit/composite-key.ts';
import type { Database } from '@svc/store/database.ts';
import type { Identifier } from '@svc/contract/trust.ts';
import { createErasureStore } from './erasure-store.ts';
import { createErasures, type Erasures } from './erasures.ts';
import { findConversations, type FindDeps } from './find-conversations.ts';
import { createTraces } from './traces.ts';

type Parts = Omit<Parameters<typeof createErasures>[0], 'store' | 'isSeeded' | 'conversationsOf' | 'traces'> &
  Parameters<typeof createTraces>[0] &
  FindDeps;
type Names = readonly Pick<Identifier, 'surface' | 'value'>[];
type Deps = Parts & {
  db: Pick<Database, 'all' | 'run'>;
  /** The persons in the seed file of trust. */
  seeded(): readonly { key: string; identifiers: Names }[];
};

export function openErasures(deps: Deps): Erasures {
  const { db, seeded, toIdentifierValue } = deps;
  const namesOf = (identifiers: Names) =>
    identifiers.map(({ surface, value }) => compositeKey(surface, toIdentifierValue(surface, value)));
  return createErasures({
    ...deps,
    store: createErasureStore(db),
    conversationsOf: (person) => findConversations(deps, person),
    isSeeded(person) {
      const names = new Set(namesOf(person.identifiers));
      return seeded().some(({ key, identifiers }) => key === person.key || namesOf(identifiers).some((name) => names.has(name)));
    },
    traces: createTraces(deps),
  });
}
