import type { ConnectorType, FoundTypes } from './find-types.ts';
import { createConfigValidator, type ConfigValidator } from './validate-config.ts';

/** The connector types of this installation. */
export type ConnectorTypes = {
  list(): readonly ConnectorType[];
  find(type: string): ConnectorType | null;
  /** Checks a config against the type's whole schema and fills in its defaults. Throws `bad_request` naming the fields. */
  validate: ConfigValidator;
  /** Folders that hold no usable type, each with its reason. */
  readonly problems: readonly string[];
};

export function createConnectorTypes({ types, problems }: FoundTypes): ConnectorTypes {
  const byName = new Map(types.map((type) => [type.meta.type, type]));
  return {
    list: () => types,
    find: (type) => byName.get(type) ?? null,
    validate: createConfigValidator(),
    problems,
  };
}
