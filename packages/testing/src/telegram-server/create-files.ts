import { badRequest, type TelegramFile, type UploadedPart } from './api-types.ts';

/** A file on the platform. One that only pretends to be large has no bytes. */
export type StoredFile = { id: string; name: string; mime: string; size: number; bytes: Buffer; path: string };
export type FileToAdd = { name: string; mime?: string; bytes?: Uint8Array; size?: number };

export type Files = {
  add(file: FileToAdd, folder: string): StoredFile;
  /** @throws ApiError when there is none. */
  byId(id: string): StoredFile;
  byPath(path: string): StoredFile | undefined;
  /** A file that the bot sends: attached, or one on the platform. URLs are not fetched. @throws ApiError */
  sent(value: unknown, folder: string): StoredFile;
};

export function createFiles(): Files {
  const byId = new Map<string, StoredFile>();
  const files: Files = {
    add({ name, mime = 'application/octet-stream', bytes = Buffer.alloc(0), size = bytes.length }, folder) {
      const n = byId.size + 1;
      const [extension] = /\.\w+$/.exec(name) ?? [''];
      const id = `AgACAgQAAxk_file_${n}`;
      const file = { id, name, mime, size, bytes: Buffer.from(bytes), path: `${folder}/file_${n}${extension}` };
      byId.set(id, file);
      return file;
    },
    byId(id) {
      const file = byId.get(id);
      if (file === undefined) throw badRequest('wrong file_id or the file is temporarily unavailable');
      return file;
    },
    byPath: (path) => [...byId.values()].find((file) => file.path === path),
    sent(value, folder) {
      if (typeof value === 'string' && /^https?:/.test(value)) throw badRequest('failed to get HTTP URL content');
      if (typeof value === 'string') return files.byId(value);
      const part = value as UploadedPart;
      if (part.bytes.length === 0) throw badRequest('file must be non-empty');
      return files.add(part, folder);
    },
  };
  return files;
}

/** The fields of every kind of file in a message. */
export const toFileFields = ({ id, size }: StoredFile): TelegramFile => ({
  file_id: id,
  file_unique_id: `unique_${id.split('_').at(-1)}`,
  file_size: size,
});

export const toDocument = (file: StoredFile) => ({ ...toFileFields(file), file_name: file.name, mime_type: file.mime });

/** A photo comes in two sizes, the larger one last. */
export function toPhoto(file: StoredFile, width = 1280, height = 960) {
  const fields = toFileFields(file);
  const small = { ...fields, file_unique_id: `${fields.file_unique_id}_s`, width: 90, height: Math.ceil((90 * height) / width) };
  return [small, { ...fields, width, height }];
}
