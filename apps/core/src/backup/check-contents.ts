import { type BackupContents, backupFormat } from '@svc/contract/backup.ts';
import { lazyCheck } from '../file/lazy-check.ts';
import { contentsName, refused, secretsName } from './archive-rules.ts';

/** The parts found in an archive, with size and digest, and those that are held in memory. */
export type Parts = { found: Map<string, { bytes: number; sha256: string }>; held: Map<string, Buffer> };

export type ReadArchive = { contents: BackupContents; secrets: Buffer | null; bytes: number };

/** Checks that the archive has exactly the parts that its contents list. */
export function checkContents({ found, held }: Parts): ReadArchive {
  const contents = parse(held.get(contentsName));
  if (contents === null) throw refused(`The backup has no ${contentsName}: this service did not make it, or it is incomplete.`);
  const { format } = contents as { format?: unknown };
  if (typeof format === 'number' && format > backupFormat) {
    throw refused(`The backup has format ${format}, and this version reads up to ${backupFormat}. Update the service first.`);
  }
  if (!isContents(contents)) throw refused(`${contentsName} of the backup is damaged.`);
  let bytes = 0;
  for (const file of contents.files) {
    const part = found.get(file.path);
    if (part === undefined) throw refused(`The backup is incomplete: ${JSON.stringify(file.path.slice(0, 200))} is missing.`);
    if (part.bytes !== file.bytes || part.sha256 !== file.sha256) {
      throw refused(`${JSON.stringify(file.path)} of the backup is damaged: it does not match its sha256.`);
    }
    found.delete(file.path);
    bytes += part.bytes;
  }
  const [extra] = [...found.keys()].filter((name) => name !== contentsName);
  if (extra !== undefined)
    throw refused(`The backup contains ${JSON.stringify(extra)}, which its ${contentsName} does not list.`);
  return { contents, secrets: held.get(secretsName) ?? null, bytes };
}

function parse(bytes: Buffer | undefined): unknown {
  try {
    return bytes === undefined ? null : JSON.parse(bytes.toString('utf8'));
  } catch {
    throw refused(`${contentsName} of the backup is damaged.`);
  }
}

const isContents = lazyCheck<BackupContents>({
  type: 'object',
  required: ['format', 'version', 'created_at', 'schemas', 'files'],
  properties: {
    format: { const: backupFormat },
    version: { type: 'string', pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}' },
    created_at: { type: 'integer', minimum: 0, maximum: 8.64e15 },
    schemas: { type: 'object', additionalProperties: { type: 'string' } },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'bytes', 'sha256'],
        properties: {
          path: { type: 'string' },
          bytes: { type: 'integer', minimum: 0 },
          sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
        },
      },
    },
  },
});
