import { setting } from '../setting.ts';
import { integer, oneOfOrNone, optionalText, trueOrFalse } from '../setting-types.ts';

/** Settings: how this installation is kept up to date. */
export const updateSettings = {
  /** Null: as chosen with `svc update --channel`. */
  updateChannel: setting('SVC_UPDATE_CHANNEL', oneOfOrNone(['stable', 'edge']), {
    text: 'Channel of updates: stable (releases) or edge (the main branch). Unset: as chosen with ./svc update --channel, else stable.',
  }),
  updateManaged: setting('SVC_UPDATE_MANAGED', optionalText(), {
    text: 'Name of what updates this installation, such as apt. ./svc update then does nothing.',
  }),
  updateArchives: setting('SVC_UPDATE_ARCHIVES', optionalText(), {
    text: 'Address that has the files of the newest release, for an installation from an archive. Unset: the address in the archive.',
  }),
  updateAllowUnsigned: setting('SVC_UPDATE_ALLOW_UNSIGNED', trueOrFalse(), {
    text: 'true: releases without a signature that this version knows (release-signers) are installed too. For forks.',
    default: 'false',
  }),
  updateVerifyMs: setting('SVC_UPDATE_VERIFY_MS', integer(0, 3_600_000), {
    text: 'How long a new version has to run well before the update counts as done, in ms.',
    default: '60000',
  }),
};
