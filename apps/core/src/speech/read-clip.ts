import { readFile } from 'node:fs/promises';
import type { UploadedFile } from '@svc/contract/upload.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import { lazyCheck } from '../file/lazy-check.ts';
import { plainMime } from '../file/file-name.ts';
import { decodeBase64, type JsonSource, notValid, readJsonBody } from '../file/read-json-file.ts';
import { tooLarge, untilSilent } from '../file/store-stream.ts';
import { type AudioType, audioTypeOf, audioTypeOfBytes, knownAudio } from './audio-type.ts';
import type { Wishes } from './speech.ts';

export type ClipBytes = { bytes: Buffer; type: AudioType; mime: string };
type JsonClip = Partial<Wishes> & { data_base64: string; mime?: string };

const name = { type: 'string', minLength: 1, maxLength: 128 } as const;
const jsonClip = {
  type: 'object',
  required: ['data_base64'],
  properties: { data_base64: { type: 'string' }, mime: { type: 'string', maxLength: 255 }, model: name, language: name },
} as const;
const isJsonClip = lazyCheck<JsonClip>(jsonClip);

/** The time limit of a body, which occupies one of the few slots. */
const bodyMs = 120_000;
const asBody = 'Send the clip as the body under its own Content-Type (or with ?mime=)';
const hint = `${asBody}, or JSON with data_base64.`;

/** The limits of a clip and of any body; a sender is told the smaller one. */
export type ClipLimits = { clipBytes: number; bodyBytes: number };

/** Reads a clip sent as the body. @throws ServiceError `too_large`, `unsupported_media_type`, `bad_request`. */
export async function readRawClip(
  request: IncomingMessage,
  mime: string | undefined,
  { clipBytes, bodyBytes }: ClipLimits,
): Promise<ClipBytes> {
  const check = (bytes: number) => {
    if (bodyBytes < clipBytes && bytes > bodyBytes) throw tooLarge(bodyBytes, 'SVC_RAW_BODY_LIMIT');
    checkSize(bytes, clipBytes);
  };
  const said = mime ?? request.headers['content-type'];
  check(Number(request.headers['content-length'] ?? 0));
  const timer = setTimeout(() => request.destroy(new Error('it took too long')), bodyMs);
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of untilSilent(request)) {
      length += part.length;
      check(length);
      parts.push(part);
    }
  } finally {
    clearTimeout(timer);
  }
  return toClip(Buffer.concat(parts), said);
}

/** Reads a clip sent as base64 in JSON, with its options. @throws as `readRawClip`. */
export async function readJsonClip(source: JsonSource, maxBytes: number): Promise<ClipBytes & Partial<Wishes>> {
  const body = await readJsonBody(source, hint);
  if (!isJsonClip(body)) throw notValid(isJsonClip.errors);
  const { data_base64, mime, model, language } = body;
  const bytes = decodeBase64(data_base64);
  checkSize(bytes.length, maxBytes);
  return { ...toClip(bytes, mime), ...(model !== undefined && { model }), ...(language !== undefined && { language }) };
}

/** Reads a clip of the upload area. @throws ServiceError `too_large`, `unsupported_media_type`. */
export async function readStoredClip({ path, mime, bytes }: UploadedFile, maxBytes: number): Promise<ClipBytes> {
  checkSize(bytes, maxBytes);
  return toClip(await readFile(path), mime);
}

/**
 * Checks the type of a recording, which is always sent as the body.
 * @throws ServiceError `unsupported_media_type` for a type that is not audio.
 */
export function checkAudioMime(mime: string): void {
  if (audioTypeOf(mime) === null) throw notAudio(mime, `${asBody}.`);
}

function toClip(bytes: Buffer, said: string | undefined): ClipBytes {
  if (bytes.length === 0) throw badRequest('The clip is empty.');
  const mime = plainMime(said);
  const type = mime === null ? audioTypeOfBytes(bytes) : audioTypeOf(mime);
  if (type === null) throw notAudio(mime);
  return { bytes, type, mime: mime ?? `audio/${type.name}` };
}

const notAudio = (mime: string | null, how = hint) =>
  new ServiceError(
    'unsupported_media_type',
    `${mime === null ? 'This' : `"${mime}"`} is not audio that can be transcribed: ${knownAudio}. ${how}`,
  );

function checkSize(bytes: number, limit: number): void {
  if (bytes <= limit) return;
  throw new ServiceError(
    'too_large',
    `A clip that is transcribed has at most ${limit} bytes, the limit set by SVC_STT_MAX_SIZE.`,
    {
      details: { limit, variable: 'SVC_STT_MAX_SIZE' },
    },
  );
}
