/** Every error code of the service's own surfaces. Pinned by a test: clients switch on them. */
export const errorCodes = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'no_access',
  'bad_host',
  'bad_origin',
  'not_found',
  'conflict',
  'too_large',
  'unsupported_media_type',
  'unprocessable',
  'insufficient_storage',
  'busy',
  'queue_full',
  'internal',
  'upstream',
  'unavailable',
  'turn_too_long',
  'turn_interrupted',
  'engine_not_installed',
  'engine_not_logged_in',
  'engine_api_key_refused',
  'engine_rate_limited',
  'engine_overloaded',
  'engine_bad_model',
  'engine_context_too_long',
  'engine_endpoint_down',
  'engine_auth_failed',
  'engine_stalled',
  'engine_crashed',
  'engine_output_too_large',
  'engine_policy_refused',
  'engine_failed',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** The error body of every process (decisions: HTTP conventions). Details of a code stand beside these fields. */
export type ErrorBody = {
  ok: false;
  error: ErrorCode;
  message: string;
  request_id: string;
  [detail: string]: unknown;
};

export const errorBodySchema = {
  type: 'object',
  required: ['ok', 'error', 'message', 'request_id'],
  properties: {
    ok: { const: false },
    error: { type: 'string' },
    message: { type: 'string' },
    request_id: { type: 'string' },
  },
  additionalProperties: true,
} as const;
