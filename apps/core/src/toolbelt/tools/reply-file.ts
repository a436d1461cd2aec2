import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { badRequest, forbidden, ServiceError } from '@svc/service-kit/service-error.ts';
import { turnRedactor } from '../../turn/turn-redactor.ts';
import { countWrite, rightsOf } from '../tool-caller.ts';
import { turnThatShows } from './check-channel.ts';
import { holdsSecret } from './send-file.ts';
import type { Tool } from './tool.ts';

/** The largest file that channels commonly accept. */
const maxBytes = 50 * 1024 * 1024;

/**
 * Sends a file of the conversation's working folder to the person, with the reply. It sends a copy in the upload area, made now: later
 * changes to the file have no effect.
 */
export const replyWithFile: Tool<'svc_reply_file'> = async (deps, caller, { path: asked, name }) => {
  const turn = turnThatShows(caller, 'file');
  deps.turnActions.checkRoom(turn);
  const { conversation_key } = turn.envelope;
  // In public anybody's words can be in the prompt, and the working folder may be shared.
  const isPublic = rightsOf(caller).reach === 'here';
  const cwd = isPublic ? null : ((await deps.sessions.read(conversation_key))?.cwd ?? null);
  const roots = [cwd, deps.conversationFiles.folderOf(conversation_key)].filter((root) => root !== null);
  const found = await openWithin(roots, path.resolve(cwd ?? '/', asked));
  try {
    countWrite(caller);
    const redactor = turnRedactor(deps, turn);
    if (await holdsSecret(found.handle, redactor)) throw forbidden('The file contains a secret of this service.');
    const facts = { filename: name ?? path.basename(found.path), conversation_key };
    const copy = await deps.uploads.take(found.handle.createReadStream({ start: 0, autoClose: false }), facts);
    // The name is shown to people, so it is masked like every message.
    const shown = redactor.text(copy.name);
    await deps.turnActions
      .add(turn, { type: 'file', path: copy.path, name: shown, mime: copy.mime })
      .catch(async (error: unknown) => {
        await deps.uploads.delete(copy.id); // the file is not sent to anybody
        throw error;
      });
    return { name: shown, bytes: copy.bytes, note: 'It will be sent with your reply.' };
  } finally {
    await found.handle.close();
  }
};

type Opened = { handle: FileHandle; path: string };

/** Opens a regular file in one of the folders; no link may lead outside them. The file that was checked is the file that is read. */
async function openWithin(roots: readonly string[], file: string): Promise<Opened> {
  const real = await realpath(file).catch(() => null);
  const places = await Promise.all(roots.map((root) => realpath(root).catch(() => null)));
  if (real === null || !places.some((place) => place !== null && isInside(real, place))) throw outside();
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw outside();
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw badRequest('Only a file can be sent.');
    if (facts.size > maxBytes) throw new ServiceError('too_large', `Files of at most ${maxBytes} bytes go with a reply.`);
    // A folder in the path may have become a link meanwhile.
    if ((await realpath(real).catch(() => null)) !== real) throw outside();
    return { handle, path: real };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const isInside = (file: string, folder: string): boolean => file.startsWith(`${folder}${path.sep}`);

/** Does not reveal whether such a file exists elsewhere. */
const outside = () => forbidden('There is no such file in the folder of this conversation. Write it there first.');
