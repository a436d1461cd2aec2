import {
  ActionRowBuilder,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ButtonBuilder,
  ButtonStyle,
  ModalBuilder,
  StringSelectMenuBuilder,
  TextInputBuilder,
  type ApplicationCommandDataResolvable,
  type Interaction as HeardInteraction,
} from 'discord.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { refusalOf, useDiscordTrial } from './use-discord-trial.ts';
import { viewMessage } from './view-channel.ts';
import type { Interaction } from './create-interactions.ts';

const trial = useDiscordTrial();
const { String: text, Subcommand, Attachment } = ApplicationCommandOptionType;
const commands: ApplicationCommandDataResolvable[] = [
  {
    name: 'ask',
    description: 'asks',
    options: [{ type: text, name: 'question', description: 'what', required: true, autocomplete: true }],
  },
  {
    name: 'room',
    description: 'rooms',
    options: [
      {
        type: Subcommand,
        name: 'start',
        description: 'starts',
        options: [{ type: Attachment, name: 'file', description: 'what' }],
      },
    ],
  },
  { type: ApplicationCommandType.Message, name: 'Ask about this' },
];
/** Handles the next interaction as given, and returns the result. */
const whenHeard = <T>(act: (heard: HeardInteraction) => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => void trial.client.once('interactionCreate', (heard) => void act(heard).then(resolve, reject)));
const shownBy = ({ shown }: Interaction) => shown.map(viewMessage);

beforeEach(async () => {
  await trial.client.application?.commands.set(commands);
});
const ask = () => trial.server.command({ from: trial.ann, channel: trial.general, name: 'ask', options: { question: 'why' } });

describe('commands', () => {
  test('are answered at once', async () => {
    const answered = whenHeard(async (heard) => {
      if (!heard.isChatInputCommand()) return;
      expect([heard.guild?.name, heard.user.id, heard.locale]).toEqual(['Work', trial.ann.id, 'en-US']);
      await heard.reply(`because ${heard.options.getString('question')}`);
    });
    const asked = ask();
    await answered;
    expect(shownBy(asked)).toMatchObject([{ text: 'because why', isPrivate: false, interaction: asked.id }]);
    expect(trial.server.replies(trial.general)).toMatchObject([{ text: 'because why' }]);
  });

  test('are answered later, followed by more messages', async () => {
    let seen: unknown;
    const answered = whenHeard(async (heard) => {
      if (!heard.isChatInputCommand()) return;
      await heard.deferReply();
      seen = trial.server.replies(trial.general);
      await heard.editReply('first');
      const more = await heard.followUp({ content: 'second', flags: 64 });
      await heard.editReply({ message: more, content: 'second, better' });
      expect((await heard.fetchReply()).content).toBe('first');
    });
    const asked = ask();
    await answered;
    expect(seen).toMatchObject([{ text: '', isLoading: true }]);
    expect(shownBy(asked)).toMatchObject([
      { text: 'first', isLoading: false },
      { text: 'second, better', isPrivate: true },
    ]);
    expect(asked).toMatchObject({ isDeferred: true, answer: 5 });
  });

  test('reject a late or second answer', async () => {
    await trial.open({ interactionMs: 0 });
    await trial.client.application?.commands.set(commands);
    const late = whenHeard(async (heard) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return heard.isRepliable() ? refusalOf(heard.reply('late')) : '';
    });
    ask();
    expect(await late).toBe('404 10062');
    await trial.open({});
    await trial.client.application?.commands.set(commands);
    const twice = whenHeard(async (heard) => {
      if (!heard.isRepliable()) return '';
      await heard.reply('once');
      heard.replied = false;
      return refusalOf(heard.reply('twice'));
    });
    ask();
    expect(await twice).toBe('400 40060');
  });

  test('have subcommands, files and autocompletion', async () => {
    const { server, ann, general } = trial;
    const opened = whenHeard(async (heard) => {
      if (!heard.isChatInputCommand()) return '';
      const url = heard.options.getAttachment('file')?.url ?? '';
      await heard.reply({ content: await (await fetch(url)).text(), flags: 64 });
      return heard.options.getSubcommand();
    });
    const file = { file: { name: 'a.txt', bytes: Buffer.from('hello') } };
    const started = server.command({ from: ann, channel: general, name: 'room start', options: { file } });
    expect(await opened).toBe('start');
    expect(shownBy(started)).toMatchObject([{ text: 'hello', isPrivate: true }]);
    const offered = whenHeard(async (heard) => {
      if (heard.isAutocomplete()) await heard.respond([{ name: heard.options.getFocused(), value: 'v' }]);
    });
    const completing = server.complete({
      from: ann,
      channel: general,
      name: 'ask',
      options: { question: 'wh' },
      focused: 'question',
    });
    await offered;
    expect(completing.choices).toEqual([{ name: 'wh', value: 'v' }]);
  });

  test('cannot be called if unregistered or without required options', () => {
    const { server, ann, general } = trial;
    expect(() => server.command({ from: ann, channel: general, name: 'none' })).toThrow('has no command none here');
    expect(() => server.command({ from: ann, channel: general, name: 'ask' })).toThrow('/ask needs question');
  });

  test('of a message menu contain the message', async () => {
    const { server, ann, general } = trial;
    const message = server.say({ from: ann, channel: general, text: 'what is this' });
    const answered = whenHeard(async (heard) => {
      if (heard.isMessageContextMenuCommand()) await heard.reply(`about ${heard.targetMessage.content}`);
    });
    const asked = server.contextMenu(ann, 'Ask about this', message);
    await answered;
    expect(shownBy(asked)).toMatchObject([{ text: 'about what is this' }]);
  });
});

describe('components', () => {
  const buttons = new ActionRowBuilder<ButtonBuilder>().addComponents(
    new ButtonBuilder({ customId: 'yes', label: 'Yes', style: ButtonStyle.Success }),
    new ButtonBuilder({ customId: 'no', label: 'No', style: ButtonStyle.Danger }),
  );
  const send = async (...components: ActionRowBuilder<ButtonBuilder | StringSelectMenuBuilder>[]) => {
    const channel = await trial.client.channels.fetch(trial.general.id);
    if (channel?.isSendable() !== true) throw new Error('no channel');
    const { id } = await channel.send({ content: 'Do it?', components: components.map((row) => row.toJSON()) });
    return trial.general.messages.get(id) as never;
  };

  test('are pressed, and update the message', async () => {
    const message = await send(buttons);
    expect(viewMessage(message).buttons.map(({ label, id }) => [label, id])).toEqual([
      ['Yes', 'yes'],
      ['No', 'no'],
    ]);
    const answered = whenHeard(async (heard) => {
      if (heard.isButton()) await heard.update({ content: `Chosen: ${heard.customId}`, components: [] });
    });
    const pressed = trial.server.press(message, trial.ann, 'Yes');
    await answered;
    expect(viewMessage(message)).toMatchObject({ text: 'Chosen: yes', buttons: [], before: ['Do it?'] });
    expect(pressed.answer).toBe(7);
    expect(() => trial.server.press(message, trial.ann, 'Yes')).toThrow('no component Yes');
  });

  test('can be deferred, offer choices, and open dialogs', async () => {
    const menu = new StringSelectMenuBuilder({ customId: 'engine', options: [{ label: 'A', value: 'a' }] });
    const message = await send(new ActionRowBuilder<StringSelectMenuBuilder>().addComponents(menu));
    const answered = whenHeard(async (heard) => {
      if (!heard.isStringSelectMenu()) return;
      await heard.deferUpdate();
      await heard.editReply({ content: `now ${heard.values[0]}`, components: [] });
    });
    trial.server.choose(message, trial.ann, 'engine', ['a']);
    await answered;
    expect(viewMessage(message).text).toBe('now a');
    const input = new TextInputBuilder({ customId: 'why', label: 'Why?', style: 1 });
    const modal = new ModalBuilder({ customId: 'reason', title: 'Reason' });
    modal.addComponents(new ActionRowBuilder<TextInputBuilder>().addComponents(input));
    const opened = whenHeard(async (heard) => {
      if (heard.isButton()) await heard.showModal(modal);
    });
    const pressed = trial.server.press(await send(buttons), trial.ann, 'No');
    await opened;
    const sent = whenHeard(async (heard) => {
      if (heard.isModalSubmit()) await heard.reply(`so: ${heard.fields.getTextInputValue('why')}`);
    });
    const submitted = trial.server.submit(pressed, { why: 'no time' });
    await sent;
    expect(shownBy(submitted)).toMatchObject([{ text: 'so: no time' }]);
  });
});
