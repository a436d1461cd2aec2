import { createLane } from '@svc/service-kit/lane.ts';
import type { ConnectorType, FoundTypes } from './find-types.ts';
import { createConfigValidator, type ConfigValidator } from './validate-config.ts';

/** The connector types of this installation, as of the last `refresh`. */
export type ConnectorTypes = {
  list(): readonly ConnectorType[];
  find(type: string): ConnectorType | null;
  /** Why this type cannot be used, for the operator. */
  whyNot(type: string): string;
  /** Checks a config against the type's whole schema and fills in its defaults. Throws `bad_request` naming the fields. */
  validate: ConfigValidator;
  /** Folders without a usable type, each with the reason. */
  problems(): readonly string[];
  /** Searches again for types that were added, changed or removed. */
  refresh(): Promise<void>;
};

export type ConnectorTypesOptions = {
  find: () => Promise<FoundTypes>;
  /** Called once for each problem. */
  onProblem?: (problem: string) => void;
};

/** Empty before the first `refresh`. */
export function createConnectorTypes({ find, onProblem = () => undefined }: ConnectorTypesOptions): ConnectorTypes {
  let found: FoundTypes = { types: [], problems: [] };
  const inOrder = createLane(1);
  return {
    list: () => found.types,
    find: (type) => found.types.find(({ meta }) => meta.type === type) ?? null,
    whyNot: (type) =>
      found.problems.find((problem) => problem.startsWith(`The connector type "${type}" `)) ??
      `The connector type "${type}" is not installed: no folder of the connectors has this name.`,
    validate: createConfigValidator(),
    problems: () => found.problems,
    // One after the other: a search that is already running may miss what was added since.
    refresh: () =>
      inOrder(async () => {
        const before = found;
        found = await find();
        for (const problem of found.problems) if (!before.problems.includes(problem)) onProblem(problem);
      }),
  };
}
