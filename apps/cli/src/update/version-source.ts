import type { UpdateChannel } from '@svc/service-kit/update/update-settings.ts';
import type { Target } from './choose-target.ts';
import type { Journal, Version } from './journal.ts';

export type TargetWish = { channel: UpdateChannel; ref: string | null; current: Version };

/** Where versions come from: the remote of a clone, or a place of archives. */
export type VersionSource = {
  /** What lies in a folder: the installation, or one of its versions. */
  installed(root: string): Promise<Version>;
  /** Asks what a channel, or a ref, comes to; brings nothing. @throws UpdateStopped when that is what is installed, or nothing */
  find(wish: TargetWish): Promise<Target>;
  /** Brings it here, and checks that it is by whom it should be. @throws UpdateStopped that says what is not in order */
  fetch(target: Target): Promise<void>;
  /** Why it is of no use to bring it now, where that was tried before; only asks. Null when it may be. */
  whyNotYet(target: Target): Promise<string | null>;
  /** Puts a version beside the others, with all that it needs; one that is there already stays. @throws BrokenVersion, what the disk says */
  make(commit: string, like: string): Promise<string>;
  remove(commit: string): Promise<void>;
  /** Keeps what a person has changed, or stops the update. Gives the words of what was kept. @throws UpdateStopped */
  keepOwnWork(isEdge: boolean, id: string): Promise<string | null>;
  /** Brings the folder of the installation to the version of the journal, as far as that is done. Gives words when not. */
  settle(journal: Journal): Promise<string | null>;
  /** Whether the folder, in whose place a version runs from elsewhere, could be brought to it now. */
  canSettleLate(commit: string): Promise<boolean>;
};
