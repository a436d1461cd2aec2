import { createLane } from '@svc/service-kit/lane.ts';
import type { ConnectorType, FoundTypes } from './find-types.ts';
import { createConfigValidator, type ConfigValidator } from './validate-config.ts';

/** The connector types of this installation, as they were found last. */
export type ConnectorTypes = {
  list(): readonly ConnectorType[];
  find(type: string): ConnectorType | null;
  /** Why there is no such type, for the operator. */
  whyNot(type: string): string;
  /** Checks a config against the type's whole schema and fills in its defaults. Throws `bad_request` naming the fields. */
  validate: ConfigValidator;
  /** Folders that hold no usable type, each with its reason. */
  problems(): readonly string[];
  /** Looks again: what was added, changed or removed counts from then on. */
  refresh(): Promise<void>;
};

export type ConnectorTypesOptions = {
  find: () => Promise<FoundTypes>;
  /** Called once for each problem. */
  onProblem?: (problem: string) => void;
};

/** Knows nothing before the first `refresh`. */
export function createConnectorTypes({ find, onProblem = () => undefined }: ConnectorTypesOptions): ConnectorTypes {
  let found: FoundTypes = { types: [], problems: [] };
  const inOrder = createLane(1);
  return {
    list: () => found.types,
    find: (type) => found.types.find(({ meta }) => meta.type === type) ?? null,
    whyNot: (type) =>
      found.problems.find((problem) => problem.startsWith(`The connector type "${type}" `)) ??
      `The connector type "${type}" is not installed: there is no folder of this name among the connectors.`,
    validate: createConfigValidator(),
    problems: () => found.problems,
    // One after the other: a search that has begun may have missed what was added since.
    refresh: () =>
      inOrder(async () => {
        const before = found;
        found = await find();
        for (const problem of found.problems) if (!before.problems.includes(problem)) onProblem(problem);
      }),
  };
}
