import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import {
  ruleNames,
  type InstanceRules,
  type InstanceRulesFile,
  type RuleName,
  type RuleProblem,
} from '@svc/contract/instance-rules.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import { writeFileAtomic, readIfThere } from '@svc/service-kit/files.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, errorText, unavailable } from '@svc/service-kit/service-error.ts';
import type { ConnectorTypes } from '../connector-type/connector-types.ts';
import type { StoredInstance } from './instance-store.ts';

type Deps = { file: string; coreUrl: string; types: Pick<ConnectorTypes, 'find'>; log: Pick<Log, 'info'> };

/** Passes the rules that the core enforces for instances on to it, in a file that no connector can open, so that none can change them. */
export type InstanceRulesWriter = {
  /**
   * Has the core check the rules in a config. Unchanged rules are not checked again.
   * @throws ServiceError `bad_request` naming the fields, `unavailable` when the core cannot be reached.
   */
  check(meta: ConnectorMeta, config: Config, before?: Config): Promise<void>;
  /** Writes the rules of all instances; resolves when the core enforces them. Throws when they cannot be written. */
  publish(instances: readonly StoredInstance[]): Promise<void>;
};
type Config = Record<string, unknown>;

/** Checking an engine may take a few seconds. */
const checkTimeoutMs = 20_000;
/** The core also reads the file by itself every second. */
const reloadTimeoutMs = 2000;

export function createInstanceRulesWriter({ file, coreUrl, types, log }: Deps): InstanceRulesWriter {
  return {
    async check(meta, config, before = {}) {
      const rules = rulesOf(meta, config);
      const known = JSON.stringify(rulesOf(meta, before));
      if (Object.keys(rules).length === 0 || JSON.stringify(rules) === known) return;
      const problems = await askCore(coreUrl, rules);
      if (problems.length === 0) return;
      const fields = problems.map(({ field, problem }) => ({ field: `config.${field}`, problem }));
      throw badRequest(`The core refuses the config: ${problems.map((each) => `${each.field} ${each.problem}`).join('; ')}.`, {
        fields,
      });
    },

    async publish(instances) {
      const before = readIfThere(file) ?? '{}';
      // While a type is missing, it is unknown which of its settings are rules, so the previous rules stay.
      const old = (parseJsonOrNull(before) ?? {}) as InstanceRulesFile;
      const entries = instances.map(({ id, type, config }): [string, InstanceRules] => {
        const meta = types.find(type)?.meta;
        return [id, meta === undefined ? (old[id] ?? {}) : rulesOf(meta, config)];
      });
      const after = JSON.stringify(Object.fromEntries(entries.filter(([, rules]) => Object.keys(rules).length > 0)));
      if (after === before) return;
      writeFileAtomic(file, after);
      await requestJson(`${coreUrl}/v2/instances/reload`, { method: 'POST', body: {}, timeoutMs: reloadTimeoutMs }).catch(
        (error: unknown) =>
          log.info(
            { why: errorText(error) },
            'the core was not notified of changed settings; it reads them by itself within a second',
          ),
      );
    },
  };
}

/** The settings of a config that the core enforces. One that is not set is no rule. */
export function rulesOf({ configSchema: { properties } }: ConnectorMeta, config: Config): InstanceRules {
  const isRule = (name: RuleName) =>
    Object.hasOwn(properties, name) && properties[name]?.['enforcedBy'] === 'core' && Object.hasOwn(config, name);
  return Object.fromEntries(ruleNames.filter(isRule).map((name) => [name, config[name]]));
}

async function askCore(coreUrl: string, rules: InstanceRules): Promise<RuleProblem[]> {
  const asked = await requestJson<{ problems?: RuleProblem[]; message?: string }>(`${coreUrl}/v2/instances/check`, {
    body: { rules },
    timeoutMs: checkTimeoutMs,
  }).catch((error: unknown) => {
    throw unavailable(
      `The core has to check these settings but cannot be reached (${errorText(error)}). Try again when it is running.`,
    );
  });
  if (asked.status === 200 && asked.body.problems !== undefined) return asked.body.problems;
  throw unavailable(`The core has to check these settings but failed to: ${asked.body.message ?? `it answered ${asked.status}`}`);
}
