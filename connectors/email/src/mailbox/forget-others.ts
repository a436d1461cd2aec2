import type { ConnectorState, StartContext } from '@svc/connector-kit';
import { stateBelow } from '@svc/connector-kit/state/state-below.ts';
import type { Config } from '../meta.ts';

type Followed = Pick<Config, 'user' | 'imap_host' | 'address' | 'folders'>;

const placesOf = (folder: string): string => `folder/${folder}/`;
/** A folder's start, the position up to which it was read, and the time of its newest mail, without those of subfolders. */
const places = ['begin', 'feed/cursor', 'newest'];

/** The stored state of a folder. */
export const folderState = (state: ConnectorState, folder: string): ConnectorState => stateBelow(state, placesOf(folder));

/**
 * Forgets the positions of folders that are no longer followed, and those of another mailbox, whose UIDs mean nothing here. A folder that
 * is followed again later counts as new. Call it once all folders could be opened, so that settings that are wrong for a minute lose no
 * mail.
 */
export async function forgetOthers({
  config,
  state,
  log,
}: Pick<StartContext<Config>, 'config' | 'state' | 'log'>): Promise<void> {
  const { user, imap_host, address, folders } = config;
  const before = await state.get<Followed>('mailbox');
  const isOther = before !== undefined && !isSame(before, config);
  const gone = (before?.folders ?? []).filter((folder) => isOther || !folders.includes(folder));
  const keys = gone.flatMap((folder) => places.map((place) => placesOf(folder) + place));
  await state.change({
    ...Object.fromEntries(keys.map((place) => [place, undefined])),
    mailbox: { user, imap_host, address, folders } satisfies Followed,
  });
  if (isOther)
    log('info', 'the connector was moved to another mailbox; the mail that is already in it is not answered', {
      user,
      was: before.user,
    });
}

/** A mailbox that has moved to another server is still the same. */
const isSame = (one: Followed, other: Followed): boolean =>
  one.user.toLowerCase() === other.user.toLowerCase() &&
  (one.imap_host === other.imap_host || one.address.toLowerCase() === other.address.toLowerCase());
