import { Ajv, type ErrorObject } from 'ajv';
import { envelopeSchema } from '@svc/contract/envelope.ts';
import type { LinkRequest } from '@svc/contract/link.ts';
import { fieldsText, invalidFields } from '@svc/service-kit/http/invalid-fields.ts';
import { illFormedIn } from '@svc/service-kit/well-formed.ts';

const requestSchema = {
  type: 'object',
  required: ['op', 'id'],
  properties: {
    op: { enum: ['handle', 'resolve', 'delivered'] },
    id: { type: 'integer' },
    stream: { type: 'boolean' },
    confirm: { type: 'boolean' },
    again: { type: 'boolean' },
    request_id: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
    envelope: { type: 'object' },
    turn_id: { type: 'string', minLength: 1, maxLength: 128 },
    error: { type: 'string', maxLength: 4000 },
  },
  oneOf: [{ required: ['envelope'] }, { required: ['turn_id'] }],
} as const;

// Ours are right: nothing is gained by checking them against the schema of schemas, at every start.
const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
const isRequest = ajv.compile<LinkRequest>(requestSchema);
const isEnvelope = ajv.compile(envelopeSchema);
/** A sender to resolve is an envelope without content. */
const isSender = ajv.compile({ ...envelopeSchema, required: ['channel', 'sender'] });

/** What a line holds: a request, or its problems; without an id it cannot be answered. */
export function parseLine(
  line: string,
  isText: boolean,
): { id: number | null; requestId?: string; value: LinkRequest | null; problems: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { id: null, value: null, problems: 'it is not JSON' };
  }
  if (!isRequest(value)) {
    const id = (value as { id?: unknown } | null)?.id;
    return { id: typeof id === 'number' ? id : null, value: null, problems: problemsOf(isRequest.errors) };
  }
  if (!isText) return { id: value.id, value: null, problems: 'it is not valid UTF-8' };
  const broken = illFormedIn(line, value, 'request');
  if (broken !== null) return { id: value.id, value: null, problems: `${broken} has broken characters` };
  if (value.op === 'delivered') return { id: value.id, value, problems: '' };
  const isWhole = value.op === 'handle' ? isEnvelope : isSender;
  if (!isWhole(value.envelope)) return { id: value.id, value: null, problems: problemsOf(isWhole.errors, 'envelope') };
  return { id: value.id, requestId: value.op === 'handle' ? value.request_id : undefined, value, problems: '' };
}

const problemsOf = (errors: ErrorObject[] | null | undefined, where = 'request'): string =>
  fieldsText(invalidFields(errors ?? [], where));
