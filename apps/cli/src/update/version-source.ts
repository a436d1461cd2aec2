import type { UpdateChannel } from '@svc/service-kit/update/update-settings.ts';
import type { Target } from './choose-target.ts';
import type { Journal, Version } from './journal.ts';

export type TargetWish = { channel: UpdateChannel; ref: string | null; current: Version };

/** The source of versions: the remote of a clone, or a server of archives. */
export type VersionSource = {
  /** The version in a folder: the installation, or one of its versions. */
  installed(root: string): Promise<Version>;
  /** Resolves a channel or ref; downloads nothing. @throws UpdateStopped when it is installed already, or does not exist */
  find(wish: TargetWish): Promise<Target>;
  /** Downloads it, and verifies its signature. @throws UpdateStopped with the fault */
  fetch(target: Target): Promise<void>;
  /** Why a download is useless now, after an earlier failure; only reads. Null when it may be tried. */
  whyNotYet(target: Target): Promise<string | null>;
  /** Adds a complete version folder; an existing one is kept. @throws BrokenVersion, disk errors */
  make(commit: string, like: string): Promise<string>;
  remove(commit: string): Promise<void>;
  /** Saves local changes, or stops the update. Returns the message about what was saved. @throws UpdateStopped */
  keepOwnWork(isEdge: boolean, id: string): Promise<string | null>;
  /** Updates the folder of the installation to the version of the journal, as far as possible. Returns a message if not. */
  settle(journal: Journal): Promise<string | null>;
  /** Whether the folder could now be updated to the version that runs instead of it. */
  canSettleLate(commit: string): Promise<boolean>;
};
