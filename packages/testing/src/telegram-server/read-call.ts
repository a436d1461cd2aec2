import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { badRequest, type UploadedPart } from './api-types.ts';
import type { ApiDescription } from './description/api-description.ts';

type Fields = { values: Map<string, unknown>; files: Map<string, UploadedPart> };
export type CallParams = { params: Record<string, unknown>; files: Map<string, UploadedPart> };

/** A request with its whole body. */
export type RawRequest = { url: string; type: string; body: Buffer };

export async function readRequest(request: IncomingMessage): Promise<RawRequest> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return { url: request.url ?? '/', type: request.headers['content-type'] ?? '', body: Buffer.concat(parts) };
}

/** The parameters of a request, in any encoding, with the types of the description. @throws ApiError */
export function readParams(request: RawRequest, method: string, description: ApiDescription): CallParams {
  const { values, files } = readFields(request);
  const params: Record<string, unknown> = {};
  for (const [name, value] of values) params[name] = toTyped(value, description.typesOf(method, name), files);
  for (const [name, file] of files) if (description.typesOf(method, name).includes('InputFile')) params[name] = file;
  return { params, files };
}

function readFields({ url, type, body }: RawRequest): Fields {
  const values = new Map<string, unknown>(new URL(url, 'http://x').searchParams);
  const files = new Map<string, UploadedPart>();
  if (body.length === 0) return { values, files };
  if (type.startsWith('application/json')) add(values, Object.entries(parseJson(body.toString('utf8')) as object));
  else if (type.startsWith('application/x-www-form-urlencoded')) add(values, new URLSearchParams(body.toString('utf8')));
  else if (type.startsWith('multipart/form-data')) readMultipart(body, type, { values, files });
  return { values, files };
}

function add(values: Map<string, unknown>, more: Iterable<[string, unknown]>): void {
  for (const [name, value] of more) if (value !== null) values.set(name, value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("can't parse JSON object");
  }
}

/** As lenient as the real API: names may be unquoted, as grammY writes those of files. */
export function readMultipart(body: Buffer, type: string, { values, files }: Fields): void {
  const boundary = Buffer.from(`--${/boundary="?([^";]+)/.exec(type)?.[1] ?? ''}`);
  let at = body.indexOf(boundary);
  while (at !== -1) {
    const start = at + boundary.length + 2;
    const end = body.indexOf(boundary, start);
    if (end === -1) return;
    readPart(body.subarray(start, end - 2), { values, files });
    at = end;
  }
}

function readPart(part: Buffer, { values, files }: Fields): void {
  const split = part.indexOf('\r\n\r\n');
  const head = part.subarray(0, split).toString('utf8');
  const bytes = part.subarray(split + 4);
  const [, name = ''] = /;\s*name="?([^";\r\n]*)"?/i.exec(head) ?? [];
  const [, fileName] = /;\s*filename="?(.*?)"?\r?$/im.exec(head) ?? [];
  if (fileName === undefined) return void values.set(name, bytes.toString('utf8'));
  const [, mime = 'application/octet-stream'] = /^content-type:\s*([^\r\n]+)/im.exec(head) ?? [];
  files.set(name, { name: fileName, mime, bytes });
}

/** Forms have only strings; structured values are JSON strings. */
function toTyped(value: unknown, types: readonly string[], files: Map<string, UploadedPart>): unknown {
  if (typeof value !== 'string') return value;
  if (types.includes('InputFile') && value.startsWith('attach://')) return attached(value, files);
  if (types.includes('Integer') && /^-?\d+$/.test(value)) return Number(value);
  if (types.includes('String') || types.length === 0) return value;
  if (types.includes('Boolean')) return value.toLowerCase() === 'true' || value === '1';
  if (types.includes('Float') && value !== '' && Number.isFinite(Number(value))) return Number(value);
  return types.includes('Integer') || types.includes('Float') ? value : parseJson(value);
}

/** @throws ApiError when this file was not sent. */
export function attached(reference: string, files: ReadonlyMap<string, UploadedPart>): UploadedPart {
  const file = files.get(reference.slice('attach://'.length));
  if (file === undefined) throw badRequest('file must be non-empty: nothing is attached under the name that attach:// gives');
  return file;
}
