/** The watchlists of the account: which one the stars stand for, and how lists are made, renamed and deleted. */
import { ActionIcon, Button, Group, Menu, Stack, TextInput } from "@mantine/core";
import { KebabHorizontalIcon } from "@primer/octicons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { ChoiceField } from "../parts/ChoiceField.tsx";
import { CHANGES, WATCHLISTS, WORDS } from "./favourites.ts";
import { FAVOURITES, nameFault } from "./watchlist.ts";
import classes from "./Watchlists.module.css";

interface WatchlistsProps {
  /** The names of all lists. */
  names: readonly string[];
  chosen: string;
  onChosen: (name: string) => void;
}

type Asked = "new" | "rename" | "delete";

/** Chooses a list, and opens the dialogs that change the lists themselves. */
export function Watchlists(props: WatchlistsProps) {
  const { names, chosen, onChosen } = props;
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const isOwn = chosen !== FAVOURITES;
  return (
    <div className={classes.tools}>
      <ChoiceField
        size="xs"
        aria-label={t("Watchlist")}
        choices={names.map((name) => ({ value: name, label: name === FAVOURITES ? t("Favourites") : name }))}
        value={chosen}
        onChoice={onChosen}
      />
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t("Change the watchlists")}>
            <KebabHorizontalIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked("new")}>{t("New list…")}</Menu.Item>
          <Menu.Item disabled={!isOwn} onClick={() => setAsked("rename")}>
            {t("Rename…")}
          </Menu.Item>
          <Menu.Item disabled={!isOwn} onClick={() => setAsked("delete")}>
            {t("Delete it…")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {(asked === "new" || asked === "rename") && (
        <NameDialog {...props} renamed={asked === "rename" ? chosen : null} onClose={close} />
      )}
      {asked === "delete" && <DeleteDialog {...props} onClose={close} />}
    </div>
  );
}

/** Asks for the name of a new list, or for another name of one. */
function NameDialog({
  names,
  renamed,
  onChosen,
  onClose,
}: WatchlistsProps & { renamed: string | null; onClose: () => void }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const [typed, setTyped] = useState(renamed ?? "");
  const name = typed.trim();
  const save = useMutation({
    scope: CHANGES,
    mutationFn: () =>
      renamed === null
        ? returned(
            rest.PATCH("/api/v1/watchlists/{watchlistName}", {
              params: { path: { watchlistName: name } },
              body: { add: [] },
            }),
          )
        : returned(
            rest.PUT("/api/v1/watchlists/{watchlistName}/name", {
              params: { path: { watchlistName: renamed } },
              body: { name },
            }),
          ),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: WATCHLISTS });
      onChosen(name);
      onClose();
    },
    onError: () => void client.invalidateQueries({ queryKey: WATCHLISTS }),
  });
  const fault = name === renamed ? null : nameFault(typed, names);
  const isReady = name !== "" && name !== renamed && fault === null;
  return (
    <Dialog
      title={renamed === null ? t("New watchlist") : t("Rename {name}", { name: renamed })}
      onClose={onClose}
      closeButtonProps={{ "aria-label": t("Close") }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !save.isPending) save.mutate();
        }}
      >
        <Stack gap="md">
          <TextInput
            label={t("Name")}
            description={t("Such as layer-2. The star beside a market adds it to the list.")}
            value={typed}
            error={fault}
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value);
              save.reset();
            }}
          />
          {save.error && <ProblemNote problem={explain(save.error, WORDS)} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("Cancel")}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isReady}>
              {renamed === null ? t("Make the list") : t("Rename")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The last question before a list is deleted. */
function DeleteDialog({ chosen, onChosen, onClose }: WatchlistsProps & { onClose: () => void }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const remove = useMutation({
    scope: CHANGES,
    mutationFn: () =>
      returned(
        rest.DELETE("/api/v1/watchlists/{watchlistName}", { params: { path: { watchlistName: chosen } } }),
      ),
    onSuccess: () => {
      onChosen(FAVOURITES);
      onClose();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: WATCHLISTS }),
  });
  return (
    <ConfirmDialog
      title={t("Delete the list {name}?", { name: chosen })}
      operator=""
      confirm={t("Delete the list")}
      danger
      isBusy={remove.isPending}
      problem={remove.error && explain(remove.error, WORDS)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {t("Its markets stay in your other lists.")}
    </ConfirmDialog>
  );
}
