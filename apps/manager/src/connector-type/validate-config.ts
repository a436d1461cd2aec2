import type { ValidateFunction } from 'ajv';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { compileSchema, problemsOf } from './ajv.ts';

export type ConfigValidator = (meta: ConnectorMeta, config: Record<string, unknown>) => Record<string, unknown>;

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
    if (validate(filled)) return filled;
    const fields = problemsOf(validate.errors ?? []).map(({ field, problem }) => ({
      field: ['config', field].filter(Boolean).join('.'),
      problem,
    }));
    const text = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    throw badRequest(`The config does not fit the type ${meta.type}: ${text}. Send the whole config.`, { fields });
  };
}

/** A copy by way of JSON, because that is how it will be stored. */
function copyOf(config: Record<string, unknown>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(config)) as Record<string, unknown>;
  } catch {
    throw badRequest('The config is nested too deeply.', { fields: [{ field: 'config', problem: 'is nested too deeply' }] });
  }
}
