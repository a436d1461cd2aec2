import { PermissionFlagsBits } from 'discord-api-types/v10';

/** What the bot has to be able to do in a server, and nothing else. */
const permissions = [
  PermissionFlagsBits.ViewChannel,
  PermissionFlagsBits.SendMessages,
  PermissionFlagsBits.SendMessagesInThreads,
  PermissionFlagsBits.ReadMessageHistory,
  PermissionFlagsBits.AttachFiles,
  PermissionFlagsBits.EmbedLinks,
  PermissionFlagsBits.AddReactions,
];
const voicePermissions = [PermissionFlagsBits.Connect, PermissionFlagsBits.Speak];

/** Where a person who may manage a server lets the bot in. */
export const inviteLink = (applicationId: string, hasVoice = false): string =>
  `https://discord.com/oauth2/authorize?${new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: String(sumOf(hasVoice ? [...permissions, ...voicePermissions] : permissions)),
  }).toString()}`;

const sumOf = (bits: readonly bigint[]): bigint => bits.reduce((sum, each) => sum | each, 0n);
