import { Button, Radio, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { REASON_LENGTH_MAX } from "#lib/components/ConfirmDialog.tsx";
import { PasswordField } from "#lib/components/PasswordField.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { CREATABLE_TYPES, STP_MODES } from "../engine/catalogue.ts";
import { useEngine } from "../engine/engine.ts";
import { RefusedError } from "../engine/errors.ts";
import { useRefresh } from "../engine/queries.ts";
import { explain } from "../engine/messages.ts";
import classes from "./forms.module.css";

const PARTICIPANT_ID = /^[A-Za-z0-9_:-]{1,64}$/;
const PASSWORD_LENGTH = { min: 8, max: 256 };
const NAME_LENGTH_MAX = 128;
const FIELDS = ["participantId", "password", "name", "type", "stpMode"];

export function NewParticipantPage() {
  const engine = useEngine();
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const form = useForm({
    mode: "controlled",
    initialValues: {
      participantId: "",
      name: "",
      password: "",
      repeated: "",
      type: "BOTH",
      stpMode: "NONE",
      reason: "",
    },
    validateInputOnBlur: true,
    validate: {
      participantId: (value) =>
        PARTICIPANT_ID.test(value) ? null : "1 to 64 letters, digits, or one of _ : - are needed.",
      password: (value) =>
        value.length >= PASSWORD_LENGTH.min && value.length <= PASSWORD_LENGTH.max
          ? null
          : `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters are needed.`,
      reason: (value) => (value.trim() === "" ? "A reason is needed." : null),
      repeated: (value, values) => (value === values.password ? null : "The two passwords differ."),
    },
  });
  const create = useMutation({
    mutationFn: ({ participantId, password, name, type, stpMode, reason }: typeof form.values) =>
      engine.createParticipant({ participantId, password, name, type, stpMode }, reason.trim()),
    onSuccess: async ({ participantId, type }) => {
      toastDone(`${participantId} is created`, `It can log in and trade as ${type} from now on.`);
      navigate(`/participants/${encodeURIComponent(participantId)}`);
      await refresh("participants", "stats");
    },
    onError: (error) => {
      if (error instanceof RefusedError && FIELDS.includes(error.field)) {
        form.setFieldError(error.field, error.message);
      }
    },
  });
  return (
    <>
      <PageHeader title="New participant">
        An account that can log in with the password that you set here, and trade as soon as it has funds.
      </PageHeader>
      <form className={classes.form} noValidate onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack gap="md">
          <Card title="Who it is">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <TextInput
                label="Participant id"
                description="Cannot be changed later."
                withAsterisk
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={64}
                {...form.getInputProps("participantId")}
              />
              <TextInput
                label="Name"
                description="For people; the id, if it is left empty."
                maxLength={NAME_LENGTH_MAX}
                autoComplete="off"
                {...form.getInputProps("name")}
              />
              <PasswordField
                label="Password"
                description={`At least ${PASSWORD_LENGTH.min} characters. It is not shown again.`}
                withAsterisk
                autoComplete="new-password"
                {...form.getInputProps("password")}
              />
              <PasswordField
                label="Password again"
                description="The same once more."
                withAsterisk
                autoComplete="new-password"
                {...form.getInputProps("repeated")}
              />
            </SimpleGrid>
          </Card>
          <Card title="Type">
            <Radio.Group aria-label="Type" {...form.getInputProps("type")}>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs">
                {CREATABLE_TYPES.map(({ type, title, description }) => (
                  <Radio key={type} value={type} label={`${title} (${type})`} description={description} />
                ))}
              </SimpleGrid>
            </Radio.Group>
          </Card>
          <Card title="Self-trade prevention">
            <Radio.Group aria-label="Self-trade prevention" {...form.getInputProps("stpMode")}>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs">
                {STP_MODES.map(({ mode, title, description }) => (
                  <Radio key={mode} value={mode} label={title} description={description} />
                ))}
              </SimpleGrid>
            </Radio.Group>
          </Card>
          <TextInput
            label="Reason"
            description="Stands in the audit trail."
            withAsterisk
            maxLength={REASON_LENGTH_MAX}
            {...form.getInputProps("reason")}
          />
          {create.error && <ProblemNote problem={explain(create.error)} />}
          <div className={classes.buttons}>
            <Button component={Link} href="/participants" variant="default">
              Cancel
            </Button>
            <Button type="submit" loading={create.isPending}>
              Create the participant
            </Button>
          </div>
        </Stack>
      </form>
    </>
  );
}
