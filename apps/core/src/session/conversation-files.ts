import { constants, type BigIntStats } from 'node:fs';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Attachment } from '@svc/contract/envelope.ts';
import type { TurnFile } from '@svc/engine-kit/engine.ts';
import { makePrivateDir } from '@svc/service-kit/files.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import { findUpload, type UploadFile } from '@svc/service-kit/upload-file.ts';
import { folderNameOf } from './conversation-key.ts';

type Deps = { folder: string; uploads: string; log: Pick<Log, 'warn'> };

/** Files of one conversation, where its engines may read them for as long as it lasts. */
export type ConversationFiles = {
  /** The folder of a conversation's files. It exists once a file was staged. */
  folderOf(key: string): string;
  /**
   * The attachments at paths where an engine may open them. One that is no longer a finished upload is `missing`. Must not
   * run twice at once for one conversation.
   */
  stage(key: string, attachments: readonly Attachment[]): Promise<TurnFile[]>;
  /** The upload behind a staged file; any other path is returned unchanged. */
  uploadOf(file: string): string;
  /** Removes the staged files of a forgotten conversation. The uploads stay. */
  forget(key: string): Promise<void>;
};

/**
 * Gives engines exactly the files that were checked. A message may wait for long between the check of its paths and the
 * moment an engine opens them, and by then a path may be a link. So each file is hard-linked into a folder that only
 * the service writes to, and the result is compared with the upload.
 */
export function createConversationFiles({ folder, uploads, log }: Deps): ConversationFiles {
  const folderOf = (key: string) => path.join(folder, folderNameOf(key));

  const stageOne = async (root: string, attachment: Attachment): Promise<TurnFile> => {
    const upload = findUpload(uploads, attachment.path);
    const { name, mime, bytes } = attachment;
    const missing = {
      name,
      mime,
      bytes,
      path: path.join(root, 'missing', path.basename(attachment.path)),
      missing: true,
    } as const;
    if (typeof upload === 'string') return missing;
    const target = path.join(root, upload.relative);
    try {
      makePrivateDir(path.dirname(target));
      await stageFile(upload, target);
    } catch (error) {
      log.warn({ err: errorText(error), file: upload.relative }, 'an attachment could not be given to the engine');
      return missing;
    }
    return { name, mime, bytes: upload.bytes, path: target };
  };

  return {
    folderOf,
    async stage(key, attachments) {
      if (attachments.length === 0) return [];
      const root = folderOf(key);
      const staged: TurnFile[] = [];
      // One after the other: a message may name the same file twice.
      for (const attachment of attachments) staged.push(await stageOne(root, attachment));
      return staged;
    },
    uploadOf(file) {
      const [conversation, ...rest] = path.relative(folder, file).split(path.sep);
      return conversation === undefined || conversation === '..' || rest.length === 0 ? file : path.join(uploads, ...rest);
    },
    forget: (key) => rm(folderOf(key), { recursive: true, force: true }),
  };
}

/** Hard links do not work across file systems: then the file is copied, under a temporary name until it is complete. */
async function stageFile(upload: UploadFile, target: string): Promise<void> {
  if (await isSame(upload, target)) return;
  const part = path.join(path.dirname(target), `.${path.basename(target)}`);
  await rm(part, { force: true });
  try {
    const isLinked = await linkOrNot(upload.path, part);
    if (!isLinked) await copyByDescriptor(upload, part);
    else if (!(await isSame(upload, part))) throw changed();
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const cannotLink = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

async function linkOrNot(file: string, part: string): Promise<boolean> {
  try {
    await link(file, part);
    return true;
  } catch (error) {
    if (cannotLink.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

async function copyByDescriptor(upload: UploadFile, part: string): Promise<void> {
  const source = await open(upload.path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    if (!matches(upload, await source.stat({ bigint: true }))) throw changed();
    const copy = await open(part, 'wx', 0o600);
    await pipeline(source.createReadStream({ autoClose: false }), copy.createWriteStream());
  } finally {
    await source.close();
  }
}

async function isSame(upload: UploadFile, file: string): Promise<boolean> {
  try {
    return matches(upload, await lstat(file, { bigint: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

const matches = (upload: UploadFile, facts: BigIntStats): boolean =>
  facts.isFile() && facts.dev === upload.dev && facts.ino === upload.ino;

const changed = () => new Error('it is no longer the file that was checked');
