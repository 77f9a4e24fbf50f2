/* scene_parts.h: what the data sides of several scenes share: how a story begins, parameters by
   name (--live), choices that keys step through, the command that is copied. */
#ifndef FLASHULP_VISUALIZE_SCENE_PARTS_H
#define FLASHULP_VISUALIZE_SCENE_PARTS_H

#include "visualize/scene.h"

/* Zeroed room for the scene's story; NULL with a sentence.  instead: what a scene that takes no
   recorded run wants, or NULL: it does; t is freed where nothing comes of it. */
void *story_begin(struct scene *scene, size_t size, struct trace *t, const char *instead,
                  struct message *why);

/* The text that --live NAME=... gives, in the caller's buffer; false: none. */
bool live_value(const struct scenario *s, const char *name, char *value, size_t room);
/* Appends NAME=VALUE to --live's lines, malloc'ed.  Blanks of a name are written '-'. */
void live_append(char **lines, const char *name, const char *value);
/* Does the scene show what --live asked for?  Else a sentence. */
bool live_shown(const struct scene *scene, const struct scenario *s, struct message *why);

/* The scenario as a command, with other lines of --live (NULL: none). */
void command_append(const struct scenario *s, char *live, char **text);
/* The scenario with another text for an option (NULL: none); the text stays the caller's. */
struct scenario scenario_with(const struct scenario *s, enum option o, const char *value);

/* The choice `direction` steps from the one that is `value`, the first where none is. */
const char *choice_stepped(const char *const *choice, int count, const char *value, int direction);
/* Of ascending numbers, from the last one that is at most `value`. */
int64_t number_stepped(const int *choice, int count, int64_t value, int direction);
extern const char *const live_policies[];
enum { LIVE_POLICIES = 4 };

#endif
