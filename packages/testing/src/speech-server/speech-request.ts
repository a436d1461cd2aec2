import { gunzipSync } from 'node:zlib';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { fakeAudio } from './fake-audio.ts';

/** A request as received. `file`: the clip of a form. */
export type SpeechRequest = {
  path: string;
  query: URLSearchParams;
  /** As the client sent it, with the scheme. */
  key: string | null;
  fields: Record<string, unknown>;
  file: { name: string; mime: string; bytes: Buffer } | null;
};

export async function readSpeechRequest(incoming: IncomingMessage): Promise<SpeechRequest> {
  const url = new URL(incoming.url ?? '/', 'http://x');
  const parts: Buffer[] = [];
  for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
  const body = Buffer.concat(parts);
  const key = incoming.headers['xi-api-key'] ?? incoming.headers.authorization ?? null;
  const base = { path: url.pathname, query: url.searchParams, key: typeof key === 'string' ? key : null };
  const type = incoming.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return { ...base, ...(await readForm(body, type)) };
  const text = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const value: unknown = text.length === 0 ? {} : JSON.parse(text.toString('utf8'));
  return { ...base, fields: Object.fromEntries(Object.entries(value ?? {})), file: null };
}

/** Parsed by the platform's own code, so that a form that only ours could parse is rejected. */
async function readForm(body: Buffer, type: string): Promise<Pick<SpeechRequest, 'fields' | 'file'>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = {};
  let file: SpeechRequest['file'] = null;
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else file = { name: value.name, mime: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  }
  return { fields, file };
}

export type SpeechAnswer =
  | { status: number; json: unknown; headers?: Record<string, string> }
  | { status: 200; mime: string; audio: Buffer }
  /** The body of a page, as a proxy sends one. */
  | { status: number; text: string };

export const spoken = (mime: string, format: string, text: string): SpeechAnswer => ({
  status: 200,
  mime,
  audio: fakeAudio(format, text),
});
