import type { ErasurePlan } from '@svc/contract/erasure.ts';

/** What stays after a person was erased, as in docs/trust.md. */
export const whatStays: ErasurePlan['stays'] = [
  { what: 'Events with what was said', why: 'they are the record of what happened; they go after SVC_RETENTION_DAYS' },
  { what: 'Backups', why: 'a copy that is changed is no copy; the newest SVC_BACKUP_KEEP and those that you made' },
  { what: 'Records of who changed what, and of what was spent', why: 'they are never changed' },
  { what: 'Messages that wait in the manager for a channel', why: 'they go when they are sent, or after 7 days' },
  { what: 'A reply that is on its way', why: 'it arrives, and goes then; one that cannot arrive is listed for 30 days' },
  { what: 'Log files', why: 'they are of everybody' },
  { what: 'What an engine’s vendor or model server keeps', why: 'it is not on this machine, or not the service’s' },
  { what: 'Silos, and files that were sent outside of any conversation', why: 'they do not say whose they are' },
];
