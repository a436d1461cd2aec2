import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';

/**
 * Which personal data a table may have, and what removes it.
 *
 * - `conversation`: removed when its conversation is forgotten (`DELETE /v2/session/:key`, `/new`)
 * - `person`: removed with the person (`DELETE /trust/principals/:id`, `/trust/pending/:id`)
 * - `operator`: written or set by an operator; removed by the same routes
 * - `time`: removed when its retention time is over
 * - `record`: kept on purpose, as a record of what was done and spent
 * - `nothing`: no personal data
 */
export type Erasure = 'conversation' | 'person' | 'operator' | 'time' | 'record' | 'nothing';

/** Every table. A new table must be added here, together with what removes its personal data. */
export const tablesOf: Record<'core' | 'login' | 'manager' | 'collector' | 'vault', Record<string, Erasure>> = {
  core: {
    announcement: 'operator',
    ask: 'conversation', // its row goes with its answer; what a killed core left goes at the next start
    delivery: 'conversation',
    engine_setting: 'nothing',
    ended_engine_session: 'nothing', // ids alone, until their engines have removed what they keep
    erasure: 'nothing', // of a person who is being erased, until that is done
    identifier: 'person',
    invitation: 'time', // a day after it ended; of a person who is there, with them
    login_account: 'nothing', // empty: login.db holds it
    login_recovery_code: 'nothing', // empty: login.db holds it
    login_session: 'nothing', // empty: login.db holds it
    login_setup: 'nothing', // empty: login.db holds it
    observed_message: 'conversation',
    pending_identity: 'person',
    principal: 'person',
    role: 'nothing',
    schema_migration: 'nothing',
    sender_budget: 'operator',
    sender_spend: 'record',
    session: 'conversation',
    silo: 'operator',
    silo_file: 'operator',
    spend: 'record',
    terminal_said: 'time', // 30 days; a digest, never a text
    terminal_word: 'operator', // goes when it is typed, or its terminal ends
    tool_server: 'nothing',
    trust_audit: 'record',
    trust_grant: 'person',
    trusted_folder: 'operator',
    turn: 'conversation',
    turn_mark: 'nothing',
    working_folder: 'conversation', // by an operator's `DELETE`; what is set stays through `/new`
  },
  login: {
    login_account: 'operator', // `svc auth reset`
    login_device: 'operator', // with the account
    login_passkey: 'operator', // with the account, or removed alone
    login_recovery_code: 'operator', // with the account
    login_session: 'time', // 12 h after sign-in
    login_setup: 'operator', // by the next set-up, or when it is finished
    login_throttle: 'operator', // with the account; a count
    login_used_challenge: 'time', // 5 minutes
    schema_migration: 'nothing',
  },
  manager: {
    held_announcement: 'time', // 7 days
    instance: 'operator',
    instance_number: 'nothing',
    meta: 'nothing',
    schema_migration: 'nothing',
    sent_message: 'time', // 24 h; where it went and a digest, never a text
  },
  collector: {
    control_audit: 'record',
    event: 'time', // SVC_RETENTION_DAYS
    fact: 'nothing',
    schema_migration: 'nothing',
    session: 'conversation', // its title and last words; that it was there stays, as a record
    system_sample: 'nothing',
    touch: 'time',
    transcript: 'time',
    usage_aux: 'nothing',
    usage_day: 'record',
    usage_period: 'record',
    usage_rollup: 'record',
  },
  vault: {
    access_log: 'record',
    access_log_mark: 'nothing',
    agent: 'operator',
    credential: 'operator',
    inventory: 'nothing',
    schema_migration: 'nothing',
    silo_key: 'operator',
    vault: 'nothing',
  },
};

/** The same for each place in the data folder: a missing one is a type error. */
export const placesOf: Record<Exclude<keyof DataPaths, `${string}Db` | 'root'>, Erasure> = {
  attachments: 'conversation',
  backups: 'time', // the newest SVC_BACKUP_KEEP; those that were made by hand are the operator's
  bodies: 'time', // while a request is answered
  cache: 'nothing',
  checkouts: 'conversation',
  connectorKey: 'nothing',
  connectors: 'operator',
  coreSocket: 'nothing',
  denyList: 'operator',
  engineState: 'record', // what engines keep of their own sessions
  engines: 'nothing',
  instanceRules: 'operator',
  instanceWorth: 'nothing', // counts and times of instances
  instances: 'time', // a message until it is answered, then its ids and digests
  loginKey: 'nothing',
  logs: 'time',
  otel: 'nothing',
  persona: 'operator',
  personas: 'operator',
  prices: 'operator',
  restore: 'time', // until the start after a restore
  run: 'nothing',
  secrets: 'operator',
  setupSteps: 'nothing',
  silos: 'operator',
  spool: 'time', // until the collector has it
  supervisorLock: 'nothing',
  supervisorState: 'nothing',
  trustSeed: 'operator',
  trustSetUp: 'nothing',
  updateCheck: 'nothing',
  updateSettings: 'nothing',
  uploads: 'operator', // `DELETE /v2/uploads/:id`; what it was called goes within the hour
  workspace: 'operator', // files that the assistant made for those who may let it act
  workspaces: 'conversation',
};
