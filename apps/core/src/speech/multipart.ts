import { randomBytes } from 'node:crypto';

export type FormFile = { field: string; filename: string; mime: string; bytes: Buffer };

/** A form with one file, as `multipart/form-data`. Names and values are ours, not a sender's: nothing in them is escaped. */
export function toMultipart(fields: Record<string, string>, file: FormFile): { type: string; parts: Buffer[] } {
  const boundary = `svc-${randomBytes(16).toString('hex')}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head =
    `${texts.join('')}--${boundary}\r\n` +
    `Content-Disposition: form-data; name="${file.field}"; filename="${file.filename}"\r\n` +
    `Content-Type: ${file.mime}\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    parts: [Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}
