import { maxDeviceToolJson, type DeviceTool } from '@svc/contract/device-tools.ts';
import { type Attachment, type Envelope, envelopeSchema, maxContext, targetNames } from '@svc/contract/envelope.ts';
import { isDeeper } from '@svc/contract/json-value.ts';
import { isLong } from '@svc/service-kit/json/write-steps.ts';
import { fieldsText } from '@svc/service-kit/http/invalid-fields.ts';
import { badRequest } from '@svc/service-kit/service-error.ts';
import { findUpload } from '@svc/service-kit/upload-file.ts';

/**
 * Checks what the schema of an envelope cannot express, for every caller.
 * @throws ServiceError `bad_request`.
 */
export function checkEnvelope({ content, channel_context, device_tools }: Envelope, uploads: string): void {
  checkAttachments(content.attachments ?? [], uploads);
  if (channel_context !== undefined) checkContext(channel_context);
  if (device_tools !== undefined) checkTools(device_tools);
}

type Fields = Record<string, unknown>;
type ObjectSchema = { properties: Record<string, Partial<ObjectSchema>> };

/** The envelope without fields that the contract does not define: nothing reads them, but they would be stored with the turn. */
export const knownFields = (envelope: Envelope): Envelope => pick(envelopeSchema as ObjectSchema, envelope) as Envelope;

function pick({ properties }: ObjectSchema, value: Fields): Fields {
  const picked: Fields = {};
  for (const name in properties) {
    const field = value[name];
    if (field === undefined) continue;
    const inner = properties[name];
    // The fields of a channel's context are its own.
    const isOpen = inner?.properties === undefined || name === 'channel_context';
    picked[name] = isOpen ? field : pick(inner as ObjectSchema, field as Fields);
  }
  return picked;
}

function checkContext(context: Fields): void {
  checkJson('channel_context', context, maxContext);
  for (const name of targetNames) {
    const value = context[name];
    // Parsing has lost its last digits, so it would name another chat.
    if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
      throw notValid(`channel_context.${name}`, 'is a number with too many digits; send it as a string');
  }
}

type JsonBounds = { chars: number; depth: number };

function checkJson(field: string, value: object, { chars, depth }: JsonBounds): void {
  if (isDeeper(value, depth)) throw notValid(field, `is nested more than ${depth} levels deep`);
  // A value that is far too long by an estimate is not serialized just to measure it.
  if (isLong(value, 2 * chars) || JSON.stringify(value).length > chars)
    throw notValid(field, `is longer than ${chars} characters as JSON`);
}

function checkTools(tools: readonly DeviceTool[]): void {
  checkJson('device_tools', tools, maxDeviceToolJson);
  if (new Set(tools.map(({ name }) => name)).size < tools.length) throw notValid('device_tools', 'has the same name twice');
}

function notValid(name: string, problem: string) {
  const field = `body.${name}`;
  return badRequest(`The request is not valid: ${field} ${problem}.`, { fields: [{ field, problem }] });
}

/**
 * Engines open the files that come with a message, so a path is only taken when it is a finished upload. One that was
 * removed meanwhile is let through; the model reads that it is missing.
 * @throws ServiceError `bad_request`.
 */
function checkAttachments(attachments: readonly Attachment[], uploads: string): void {
  const fields = attachments.flatMap(({ path: file }, index) => {
    const found = findUpload(uploads, file);
    const isWrong = found === 'outside' || found === 'not_a_file';
    return isWrong ? [{ field: `body.content.attachments.${index}.path`, problem: 'is not a file of the upload area' }] : [];
  });
  if (fields.length > 0)
    throw badRequest(`The request is not valid: ${fieldsText(fields)}. Upload each file first, then name its path.`, { fields });
}
