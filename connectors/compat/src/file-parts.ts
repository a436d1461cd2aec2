import { hash } from 'node:crypto';
import { isRecord } from '@svc/contract/json-value.ts';
import { refuse } from './completion-error.ts';

/** Maximum number of files of one turn, as in the core. */
export const maxFiles = 32;

/** A file of a message: its content in base64, or its address. */
export type FilePart = {
  kind: 'image' | 'audio' | 'file';
  source: { base64: string } | { url: string };
  /** The name without an extension, by which the text of the message refers to the file. */
  name: string;
  /** The sender's name for it; null where the protocol has no name. */
  filename: string | null;
  mime: string | null;
  /** Its position in the request, for errors. */
  at: string;
};

type Fields = Record<string, unknown>;

/** Reads a part that is not text; null for a type without a file. */
export function parseFilePart(part: Fields, at: string): FilePart | null {
  if (part['type'] === 'image_url') return imagePart(fieldsOf(part['image_url']), `${at}.image_url`);
  if (part['type'] === 'input_audio') return audioPart(fieldsOf(part['input_audio']), `${at}.input_audio`);
  if (part['type'] === 'file') return documentPart(fieldsOf(part['file']), `${at}.file`);
  return null;
}

function imagePart({ url }: Fields, at: string): FilePart {
  if (typeof url !== 'string') throw refuse(`${at}.url`, `'${at}.url' must be a string.`, 'invalid_type');
  const data = parseDataUrl(url, `${at}.url`);
  const source = data === null ? { url } : { base64: data.base64 };
  return { kind: 'image', source, name: nameOf('image', url), filename: null, mime: null, at: `${at}.url` };
}

function audioPart({ data, format }: Fields, at: string): FilePart {
  if (typeof data !== 'string') throw refuse(`${at}.data`, `'${at}.data' must be a string of base64.`, 'invalid_type');
  if (format !== 'wav' && format !== 'mp3') throw refuse(`${at}.format`, `'${at}.format' must be wav or mp3.`, 'invalid_value');
  return { kind: 'audio', source: { base64: data }, name: nameOf('audio', data), filename: null, mime: null, at: `${at}.data` };
}

function documentPart({ file_data: data, file_id: id, filename }: Fields, at: string): FilePart {
  if (id !== undefined && id !== null)
    throw refuse(
      `${at}.file_id`,
      `'${at}.file_id' is not supported: send the file itself as file_data.`,
      'unsupported_parameter',
    );
  if (typeof data !== 'string') throw refuse(`${at}.file_data`, `'${at}.file_data' must be a data URL.`, 'invalid_type');
  const parsed = parseDataUrl(data, `${at}.file_data`) ?? { base64: data, mime: null };
  return {
    kind: 'file',
    source: { base64: parsed.base64 },
    name: nameOf('file', data),
    filename: typeof filename === 'string' && filename.trim() !== '' ? filename.slice(0, 255) : null,
    mime: parsed.mime,
    at: `${at}.file_data`,
  };
}

const maxDataHead = 256;

/** Parses `data:image/png;base64,…`; null for any other address. */
function parseDataUrl(url: string, at: string): { base64: string; mime: string | null } | null {
  if (!/^data:/i.test(url)) return null;
  const comma = url.slice(0, maxDataHead).indexOf(',');
  const head = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase();
  if (comma === -1 || !head.endsWith(';base64')) throw refuse(at, `'${at}' must be a data URL in base64.`, 'invalid_value');
  return { base64: url.slice(comma + 1), mime: /^[\w.+-]+\/[\w.+-]+/.exec(head)?.[0] ?? null };
}

const sampled = 4_096;

/**
 * The same file always gets the same name. A large file is identified by its length and both ends, because a digest of all of it would
 * block other requests.
 */
function nameOf(kind: string, source: string): string {
  const sample = `${source.length}:${source.slice(0, sampled)}${source.slice(-sampled)}`;
  return `${kind}-${hash('sha256', sample, 'hex').slice(0, 8)}`;
}

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
