import { ServiceError } from '@svc/service-kit/service-error.ts';
import { overspent, refuse } from './completion-error.ts';

/** The invalid field, by the core's reason. */
const params: Record<string, [param: string, code: string]> = {
  bad_voice: ['voice', 'invalid_value'],
  bad_model: ['model', 'model_not_found'],
  bad_format: ['response_format', 'invalid_value'],
};

/** Converts the core's speech errors to this protocol. Clients do not retry what is not set up. */
export function toSpeechFault(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { reason } = error.details;
  if (reason === 'spending_limit') return overspent(error.message);
  if (typeof reason !== 'string') return error;
  const [param, code] = params[reason] ?? [];
  if (param !== undefined) return refuse(param, error.message, code);
  const isLasting = reason === 'no_provider' || reason === 'no_key';
  return new ServiceError(error.code, error.message, { status: error.status, details: { code: reason, final: isLasting } });
}

/**
 * The model that a caller requests; undefined for the advertised one and for `default`, so that the settings apply. @throws ServiceError
 */
export function ownModel(model: unknown, modelName: string): string | undefined {
  if (typeof model !== 'string' || model === '' || model.length > 128)
    throw refuse('model', "'model' must be the name of a speech model.", 'invalid_type');
  return model === modelName || model === 'default' ? undefined : model;
}
