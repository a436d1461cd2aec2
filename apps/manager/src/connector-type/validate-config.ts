import type { ValidateFunction } from 'ajv';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { compileSchema, problemsOf, type FieldProblem } from './ajv.ts';

type Config = Record<string, unknown>;
export type ConfigValidator = (meta: ConnectorMeta, config: Config) => Config;

/** Schemas are compiled on first use, once for each description: a type's may change. Each was checked when its type was found. */
export function createConfigValidator(): ConfigValidator {
  const compiled = new WeakMap<ConnectorMeta, ValidateFunction>();
  const validatorOf = (meta: ConnectorMeta): ValidateFunction => {
    const validate = compiled.get(meta) ?? compileSchema({ additionalProperties: false, ...meta.configSchema });
    compiled.set(meta, validate);
    return validate;
  };
  return (meta, config) => {
    const validate = validatorOf(meta);
    const filled = copyOf(config);
    const problems = validate(filled) ? shortPaths(meta, filled) : problemsOf(validate.errors ?? []);
    if (problems.length === 0) return filled;
    const fields = problems.map(({ field, problem }) => ({
      field: ['config', field].filter(Boolean).join('.'),
      problem,
    }));
    const text = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    throw badRequest(`The config does not fit the type ${meta.type}: ${text}. Send the whole config.`, { fields });
  };
}

/** A shell puts the home folder in place of `~`; here it would be a folder of that name in the instance's own. */
function shortPaths({ permissions: { read = [], write = [] } = {} }: ConnectorMeta, config: Config): FieldProblem[] {
  const named = [...new Set([...read, ...write])].filter((field) => /^~[^/]*(\/|$)/.test(String(config[field] ?? '')));
  return named.map((field) => ({ field, problem: 'begins with "~", which is not replaced here; write the whole path' }));
}

/** A copy by way of JSON, because that is how it will be stored. */
function copyOf(config: Config): Config {
  try {
    return JSON.parse(JSON.stringify(config)) as Config;
  } catch {
    throw badRequest('The config is nested too deeply.', { fields: [{ field: 'config', problem: 'is nested too deeply' }] });
  }
}
