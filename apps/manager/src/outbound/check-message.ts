import path from 'node:path';
import type { Outbound } from '@svc/contract/connector-meta.ts';
import type { OutboundMessage, SendRequest } from '@svc/contract/send.ts';
import { badRequest, forbidden } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';

export type MessageDraft = Omit<OutboundMessage, 'id'>;
type FieldProblem = { field: string; problem: string };

/** The message of a request, in the terms of its channel. Throws one `bad_request` that names every invalid field. */
export function checkMessage(request: SendRequest, { kinds, target: wanted }: Outbound): MessageDraft {
  const { target = '', text, path: file, caption, about } = request;
  const kind = request.kind ?? kindFor(file, kinds);
  const fields: FieldProblem[] = [];
  const bad = (field: string, problem: string) => fields.push({ field: `body.${field}`, problem });

  if (wanted.required && target.trim() === '') bad('target', `is missing: ${wanted.label}`);
  if (!kinds.includes(kind)) bad('kind', `"${kind}" is not supported by this channel, which supports ${kinds.join(', ')}`);
  if (isBlank(text) && file === undefined) bad('text', 'is missing, and there is no file either');
  if (kind === 'text' && file !== undefined) bad('path', 'cannot be combined with the kind "text"');
  if (caption !== undefined && file === undefined) bad('caption', 'is only for a file');
  if (fields.length > 0) {
    const problems = fields.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    throw badRequest(`The request is not valid: ${problems}.`, { fields });
  }
  return { target, kind, text, path: file, caption, about };
}

const isBlank = (text: string | undefined) => text === undefined || text.trim() === '';

const imageNames = ['photo', 'image'];
const fileNames = ['document', 'file', 'attachment'];

/** Channels have their own names for kinds of files, so the first one that the channel has is used. */
function kindFor(file: string | undefined, kinds: readonly string[]): string {
  if (file === undefined) return 'text';
  const isImage = /\.(png|jpe?g|gif|webp)$/i.test(path.basename(file));
  const wanted = isImage ? [...imageNames, ...fileNames] : fileNames;
  return wanted.find((name) => kinds.includes(name)) ?? 'file';
}

/**
 * The real path of a finished upload. Any other path is `forbidden`, whether or not it exists; one in the upload area
 * that is not a file is a `bad_request`.
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
