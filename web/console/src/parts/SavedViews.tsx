import { Button, Menu, TextInput } from "@mantine/core";
import { BookmarkIcon, LinkIcon, PlusIcon, TrashIcon } from "@primer/octicons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { explainIfAny } from "../engine/messages.ts";
import { returned, type Schemas, useEdge } from "../operator/client.ts";
import { useActingName } from "../operator/session.ts";
import { withoutPlace } from "./savedQuery.ts";

type View = Schemas["ViewResponse"];
export type ViewPage = View["page"];

/** The operator's own views of a page: its filters under names. The address of a view is that of the page with them. */
export function SavedViews({ page }: { page: ViewPage }) {
  const { rest } = useEdge();
  const client = useQueryClient();
  const [location, navigate] = useLocation();
  const search = withoutPlace(useSearch(), page);
  const [isSaving, setSaving] = useState(false);
  const views = useQuery({
    queryKey: ["views"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/views", { signal })),
    staleTime: 60_000,
  });
  const remove = useMutation({
    mutationFn: ({ id }: View) =>
      returned(rest.DELETE("/api/v1/operator/views/{id}", { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["views"] }),
  });
  const own = views.data?.filter((view) => view.page === page) ?? [];
  const opened = own.find(({ query }) => withoutPlace(query, page) === search);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<BookmarkIcon />}>
            {opened ? `View: ${opened.name}` : "Views"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {own.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={<BookmarkIcon />}
              onClick={() => {
                // Views of before may have a place in the list, too.
                const query = withoutPlace(view.query, page);
                navigate(query === "" ? location : `${location}?${query}`);
              }}
            >
              {view.name}
            </Menu.Item>
          ))}
          {own.length > 0 && <Menu.Divider />}
          <Menu.Item leftSection={<PlusIcon />} onClick={() => setSaving(true)}>
            Save these filters…
          </Menu.Item>
          <Menu.Item leftSection={<LinkIcon />} onClick={() => copyAndTell(window.location.href)}>
            Copy the address of this view
          </Menu.Item>
          {opened && (
            <Menu.Item
              leftSection={<TrashIcon />}
              data-danger
              onClick={() => remove.mutate(opened)}
            >{`Remove ${opened.name}`}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isSaving && <SaveDialog page={page} query={search} onClose={() => setSaving(false)} />}
    </>
  );
}

function SaveDialog({ page, query, onClose }: { page: ViewPage; query: string; onClose: () => void }) {
  const { rest } = useEdge();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const save = useMutation({
    mutationFn: () =>
      returned(rest.POST("/api/v1/operator/views", { body: { page, name: name.trim(), query } })),
    onSuccess: () => {
      onClose();
      toastDone("The view is saved", name.trim());
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["views"] }),
  });
  return (
    <ConfirmDialog
      title="Save these filters?"
      operator={useActingName()}
      missing={[name.trim() === "" && "give it a name"]}
      confirm="Save the view"
      isBusy={save.isPending}
      problem={explainIfAny(save.error)}
      onConfirm={() => save.mutate()}
      onClose={onClose}
    >
      <p>
        Only you see it. A view of this page that has the name already gets these filters.
        {page === "user" && " It opens on the page of every user."}
        {page === "participant" && " It opens on the page of every participant."}
      </p>
      <TextInput
        label="Name"
        value={name}
        maxLength={64}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
