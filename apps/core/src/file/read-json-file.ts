import type { ErrorObject } from 'ajv';
import type { IncomingMessage, ServerResponse } from '@svc/service-kit/builtin.ts';
import { discardBody, receiveBody } from '@svc/service-kit/http/receive-body.ts';
import { IncomingBody } from '@svc/service-kit/intake/incoming-body.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';
import { readJson } from '@svc/service-kit/json/read-json.ts';
import { JsonShape } from '@svc/service-kit/json-shape.ts';
import { ServiceError, badRequest } from '@svc/service-kit/service-error.ts';
import { lazyCheck } from './lazy-check.ts';

/** The limit of every JSON body of the service. */
const maxBytes = 10 * 1024 * 1024;

const facts = {
  filename: { type: 'string', minLength: 1, maxLength: 4096 },
  mime: { type: 'string', maxLength: 255 },
  conversation_key: { type: 'string', minLength: 1, maxLength: 512 },
} as const;

/** The schema of a file in a JSON body. Other fields are ignored: a body cannot name a path on this machine. */
const isFile = lazyCheck<JsonFile>({
  type: 'object',
  required: ['filename', 'data_base64'],
  properties: { ...facts, data_base64: { type: 'string' } },
});

/** An incoming body, its response, and the memory budget that it counts towards until the response. */
export type JsonSource = { request: IncomingMessage; answer: ServerResponse; intake: Intake };

export type JsonFile = { filename: string; mime?: string; conversation_key?: string; data_base64: string };

/**
 * Reads a file sent as base64 in JSON, with its metadata.
 * @throws ServiceError `unsupported_media_type`, `too_large`, `bad_request`.
 */
export async function readJsonFile(source: JsonSource): Promise<{ facts: Omit<JsonFile, 'data_base64'>; bytes: Buffer }> {
  const value = await readJsonBody(
    source,
    'Send the file as the body with its name in the query (?filename=), or JSON with data_base64.',
  );
  if (!isFile(value)) throw notValid(isFile.errors);
  const { filename, mime, conversation_key, data_base64 } = value;
  return { facts: { filename, mime, conversation_key }, bytes: decodeBase64(data_base64) };
}

/** The JSON of a body that the route itself reads. `hint` is for senders of another content type. @throws as `readJsonFile`. */
export async function readJsonBody(source: JsonSource, hint: string): Promise<unknown> {
  const type = source.request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new ServiceError('unsupported_media_type', hint);
  const shape = new JsonShape();
  return parse(await readBytes(source, shape), shape);
}

/** A schema's errors as a ServiceError. */
export function notValid(errors: ErrorObject[] | null | undefined): ServiceError {
  const problems = (errors ?? []).map(({ instancePath, message }) => `${instancePath || 'body'} ${message}`);
  return badRequest(`The request is not valid: ${problems.join('; ')}.`);
}

/** Counts the body from its first byte until the request is answered. */
async function readBytes({ request, answer, intake }: JsonSource, shape: JsonShape): Promise<Buffer> {
  const body = new IncomingBody(intake, maxBytes);
  answer.once('close', () => body.release());
  try {
    body.expect(Number(request.headers['content-length'] ?? 0));
    await receiveBody(request, body, shape);
    return await body.read();
  } catch (error) {
    body.release();
    discardBody(request);
    throw (error as ServiceError).code === 'too_large' ? tooLarge() : error;
  }
}

const tooLarge = () =>
  new ServiceError('too_large', `A JSON body has at most ${maxBytes} bytes. Send the file as the body instead, or in chunks.`, {
    details: { limit: maxBytes },
  });

async function parse(bytes: Buffer, shape: JsonShape): Promise<unknown> {
  try {
    return await readJson(bytes, shape);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw badRequest('The body is not JSON. For a raw file, put its name in the query (?filename=).');
  }
}

/** Node ignores invalid characters in base64, so a different file than the one sent would be stored. */
export function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === Math.floor((text.replace(/=+$/, '').length * 3) / 4) && text.length % 4 !== 1) return bytes;
  throw badRequest('data_base64 is not valid base64.');
}
