import type { ValidateFunction } from 'ajv';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { compileSchema, problemsOf, type FieldProblem } from './ajv.ts';
import { fillPlainConfig } from './fill-plain-config.ts';

type Config = Record<string, unknown>;
export type ConfigValidator = (meta: ConnectorMeta, config: Config) => Config;

/** Schemas are compiled on first use, once for each description, because that of a type may change. Each was checked when its type was found. */
export function createConfigValidator(): ConfigValidator {
  const compiled = new WeakMap<ConnectorMeta, ValidateFunction>();
  const validatorOf = (meta: ConnectorMeta): ValidateFunction => {
    const validate = compiled.get(meta) ?? compileSchema({ additionalProperties: false, ...meta.configSchema });
    compiled.set(meta, validate);
    return validate;
  };
  return (meta, config) => {
    const filled = copyOf(config);
    const validate = fillPlainConfig(meta.configSchema, filled) ? null : validatorOf(meta);
    const isValid = validate === null || validate(filled);
    const problems = isValid ? shortPaths(meta, filled) : problemsOf(validate.errors ?? []);
    if (problems.length === 0) return filled;
    const fields = problems.map(({ field, problem }) => ({
      field: ['config', field].filter(Boolean).join('.'),
      problem,
    }));
    const text = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    throw badRequest(`The config is invalid for the type ${meta.type}: ${text}. Send the whole config.`, { fields });
  };
}

/** A shell expands `~`; here it would be a folder of that name within the instance's folder. */
function shortPaths({ permissions: { read = [], write = [] } = {} }: ConnectorMeta, config: Config): FieldProblem[] {
  const named = [...new Set([...read, ...write])].filter((field) => /^~[^/]*(\/|$)/.test(String(config[field] ?? '')));
  return named.map((field) => ({ field, problem: 'begins with "~", which is not expanded here; write the full path' }));
}

/** A copy through JSON, because that is how the config will be stored. */
function copyOf(config: Config): Config {
  try {
    return JSON.parse(JSON.stringify(config)) as Config;
  } catch {
    throw badRequest('The config is nested too deeply.', { fields: [{ field: 'config', problem: 'is nested too deeply' }] });
  }
}
