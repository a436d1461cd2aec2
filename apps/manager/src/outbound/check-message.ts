import path from 'node:path';
import type { Outbound } from '@svc/contract/connector-meta.ts';
import type { OutboundMessage, SendRequest } from '@svc/contract/send.ts';
import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';

export type MessageDraft = Omit<OutboundMessage, 'id'>;
type FieldProblem = { field: string; problem: string };

/** What a request wants sent, in the terms of its channel. Throws one `bad_request` that names every bad field. */
export function checkMessage(request: SendRequest, { kinds, target: wanted }: Outbound): MessageDraft {
  const { target = '', text, path: file, caption, about } = request;
  const kind = request.kind ?? kindFor(file, kinds);
  const fields: FieldProblem[] = [];
  const bad = (field: string, problem: string) => fields.push({ field: `body.${field}`, problem });

  if (wanted.required && target.trim() === '') bad('target', `is missing: ${wanted.label}`);
  if (!kinds.includes(kind)) bad('kind', `"${kind}" is not sent by this channel, which takes ${kinds.join(', ')}`);
  if (isBlank(text) && file === undefined) bad('text', 'is missing, and there is no file either');
  if (kind === 'text' && file !== undefined) bad('path', 'does not go with the kind "text"');
  if (caption !== undefined && file === undefined) bad('caption', 'goes with a file only');
  if (fields.length > 0) {
    const said = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    throw badRequest(`The request is not valid: ${said}.`, { fields });
  }
  return { target, kind, text, path: file, caption, about };
}

const isBlank = (text: string | undefined) => text === undefined || text.trim() === '';

const imageNames = ['photo', 'image'];
const fileNames = ['document', 'file', 'attachment'];

/** Channels have their own names for what they send, so the first that fits is taken. */
function kindFor(file: string | undefined, kinds: readonly string[]): string {
  if (file === undefined) return 'text';
  const isImage = /\.(png|jpe?g|gif|webp)$/i.test(path.basename(file));
  const wanted = isImage ? [...imageNames, ...fileNames] : fileNames;
  return wanted.find((name) => kinds.includes(name)) ?? 'file';
}

/**
 * The real path of a finished upload. Whatever lies elsewhere is `forbidden` without a word on whether it exists; what
 * is no file is a `bad_request`.
 */
export function checkUpload(file: string, uploads: string): string {
  const found = findUpload(uploads, file);
  if (typeof found === 'object') return found.path;
  switch (found) {
    case 'outside':
      throw forbidden('Only files of the upload area can be sent. Upload the file first, then name its path.');
    case 'missing':
      throw badRequest(`There is no file "${path.basename(file)}" in the upload area.`);
    case 'not_a_file':
      throw badRequest(`"${path.basename(file)}" is not a file.`);
  }
}
