import { date, lines, mailbox, stamp, type CorpusMail } from './corpus-mail.ts';

type Automatic = {
  why: RegExp;
  fields?: readonly string[];
  /** Its address by SMTP where it is not the one in its From. */
  envelopeFrom?: string;
  body?: readonly string[];
  from?: string;
};

const why = {
  program: /Auto-Submitted/,
  list: /mailing list/,
  many: /Precedence/,
  bounce: /bounce/,
  report: /mail server's report/,
  reply: /automatic reply/,
  nobody: /nobody reads/,
};
const notice = (type: string): string[] => [
  '--b',
  '',
  'Your mail could not be delivered.',
  '--b',
  `Content-Type: message/${type}`,
  '',
  'Reporting-MTA: dns; mx.friend.example',
  '',
  'Final-Recipient: rfc822; louisl@larry.slip.umd.example',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1 no such user',
  '--b',
  'Content-Type: message/rfc822',
  '',
  `From: ${mailbox}`,
  'Subject: Lunch',
  '--b--',
];
const report = (kind: string, type: string): Automatic => ({
  why: why.report,
  fields: ['MIME-Version: 1.0', `Content-Type: multipart/report; report-type=${kind}; boundary=b`],
  body: notice(type),
});

/** What no person wrote, or not to us alone (RFC 3834, RFC 3464, RFC 2369, RFC 2919), and which word the log has for it. */
export const automaticMails: Readonly<Record<string, Automatic>> = {
  'a vacation': { why: why.program, fields: ['Auto-Submitted: auto-replied', 'Subject: Out of office'] },
  'a vacation with a comment': { why: why.program, fields: ['Auto-Submitted: auto-replied (vacation)'] },
  'a vacation in capitals': { why: why.program, fields: ['AUTO-SUBMITTED: AUTO-REPLIED'] },
  'a vacation with an owner (RFC 5436)': {
    why: why.program,
    fields: ['Auto-Submitted: auto-notified; owner-email="ann@friend.example"'],
  },
  'a cron job': { why: why.program, fields: ['Auto-Submitted: auto-generated', 'X-Cron-Env: <SHELL=/bin/sh>'] },
  'no and yes': { why: why.program, fields: ['Auto-Submitted: no', 'Auto-Submitted: auto-replied'] },
  'something like no': { why: why.program, fields: ['Auto-Submitted: nope'] },
  'a field that is folded': { why: why.program, fields: ['Auto-Submitted:\r\n auto-replied'] },
  'a list (RFC 2919)': { why: why.list, fields: ['List-Id: List Header <list-header.nisto.example>'] },
  'a list (RFC 2369)': { why: why.list, fields: ['List-Post: <mailto:list@host.example>'] },
  'a newsletter': {
    why: why.list,
    fields: ['List-Unsubscribe: <https://shop.example/out>', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click'],
  },
  'a list in capitals': { why: why.list, fields: ['LIST-HELP: <mailto:help@host.example>'] },
  'a list that is archived': { why: why.list, fields: ['List-Archive: <https://host.example>'] },
  'a bulk mail': { why: why.many, fields: ['Precedence: bulk'] },
  'a list of old': { why: why.many, fields: ['Precedence: list'] },
  junk: { why: why.many, fields: ['precedence: JUNK'] },
  'a bounce': { why: why.bounce, envelopeFrom: '', fields: ['Subject: Undelivered Mail Returned to Sender'] },
  'a bounce by report (RFC 3464)': { ...report('delivery-status', 'delivery-status'), why: why.bounce, envelopeFrom: '' },
  'a report with a sender': report('delivery-status', 'delivery-status'),
  'a receipt (RFC 8098)': report('disposition-notification', 'disposition-notification'),
  'a complaint (RFC 5965)': report('feedback-report', 'feedback-report'),
  'a report of TLS (RFC 8460)': report('tlsrpt', 'tlsrpt'),
  'a delivery status alone': { why: why.report, fields: ['Content-Type: message/delivery-status'] },
  'an autoresponder of cPanel': { why: why.reply, fields: ['X-Autorespond: Lunch'] },
  'an autoresponder': { why: why.reply, fields: ['X-Autoreply: yes'] },
  'an autoresponder, too': { why: why.reply, fields: ['X-Autoresponder: yes'] },
  Exchange: { why: why.reply, fields: ['X-Auto-Response-Suppress: DR, OOF, AutoReply'] },
  'a loop that is marked': { why: why.reply, fields: [`X-Loop: ${mailbox}`] },
  'a daemon': { why: why.nobody, from: 'MAILER-DAEMON@friend.example' },
  'a postmaster': { why: why.nobody, from: 'postmaster@friend.example' },
  nobody: { why: why.nobody, from: 'no-reply@friend.example' },
  'nobody, too': { why: why.nobody, from: 'DoNotReply+12@friend.example' },
  'an owner of a list': { why: why.nobody, from: 'owner-list@friend.example' },
  'a list server': { why: why.nobody, from: 'list-request@friend.example' },
  'a bouncer': { why: why.nobody, from: 'list-bounces+ann=friend.example@friend.example' },
  ourselves: { why: /from this mailbox itself/, from: mailbox },
  'ourselves in capitals': { why: /from this mailbox itself/, from: mailbox.toUpperCase() },
  'no From': { why: /cannot be read/, from: '' },
};

export function automaticMail(
  name: string,
  { why: reason, fields = [], body = ['I am away.'], ...given }: Automatic,
  own: string,
): CorpusMail {
  const from = given.from ?? own;
  const envelopeFrom = given.envelopeFrom ?? (from === '' ? own : from);
  const domain = (from === '' ? own : from).split('@')[1]?.toLowerCase() ?? '';
  const header = [
    ...(from === '' ? [] : [`From: <${from}>`]),
    `To: ${mailbox}`,
    `Message-ID: <${own}>`,
    `Date: ${date}`,
    ...fields,
  ];
  return {
    name,
    from,
    envelopeFrom,
    raw: () => Buffer.concat([Buffer.from(stamp(`dmarc=pass header.from=${domain}`)), lines(...header, '', ...body)]),
    fate: { never: reason },
  };
}
