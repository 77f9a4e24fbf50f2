/* window.c: the window, by way of SDL2: its events to control.h, control's picture to its surface.
   Pixels are raster.h's own; SDL's renderers are not used. */
#include "visualize/view.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "visualize/control.h"
#include "visualize/raster.h"

struct window {
    SDL_Window *window;
    struct control control;
    struct image image;
    struct glyph_cache *cache;
    double scale; /* pixels of the surface a unit */
    int frames; /* with a scene */
};

static const struct {
    SDL_Keycode code;
    enum control_key key;
} keys[] = {{SDLK_SPACE, KEY_SPACE},
            {SDLK_LEFT, KEY_LEFT},
            {SDLK_RIGHT, KEY_RIGHT},
            {SDLK_UP, KEY_UP},
            {SDLK_DOWN, KEY_DOWN},
            {SDLK_PAGEUP, KEY_PAGE_UP},
            {SDLK_PAGEDOWN, KEY_PAGE_DOWN},
            {SDLK_HOME, KEY_HOME},
            {SDLK_END, KEY_END},
            {SDLK_TAB, KEY_TAB},
            {SDLK_ESCAPE, KEY_ESCAPE},
            {SDLK_LEFTBRACKET, KEY_LESS},
            {SDLK_RIGHTBRACKET, KEY_MORE},
            {SDLK_PLUS, KEY_PLUS},
            {SDLK_EQUALS, KEY_PLUS},
            {SDLK_KP_PLUS, KEY_PLUS},
            {SDLK_MINUS, KEY_MINUS},
            {SDLK_KP_MINUS, KEY_MINUS},
            {SDLK_QUESTION, KEY_HELP},
            {SDLK_SLASH, KEY_HELP},
            {SDLK_F1, KEY_HELP},
            {SDLK_h, KEY_HELP},
            {SDLK_c, KEY_C},
            {SDLK_d, KEY_D},
            {SDLK_f, KEY_F},
            {SDLK_k, KEY_K},
            {SDLK_n, KEY_N},
            {SDLK_p, KEY_P},
            {SDLK_q, KEY_Q},
            {SDLK_r, KEY_R},
            {SDLK_t, KEY_T},
            {SDLK_z, KEY_Z}};

static void on_key(struct window *w, const SDL_KeyboardEvent *e)
{
    for (size_t n = 0; n < sizeof keys / sizeof keys[0]; n++)
        if (keys[n].code == e->keysym.sym) {
            control_press_key(&w->control, keys[n].key, (e->keysym.mod & KMOD_SHIFT) != 0);
            return;
        }
}

/* A position in the window, which may count other points than pixels, in units. */
static double units(const struct window *w, int x)
{
    int wide, high;
    SDL_GetWindowSize(w->window, &wide, &high);
    double dense = wide > 0 ? (double)w->image.width / wide : 1;
    return x * dense / w->scale;
}

static void on_event(struct window *w, const SDL_Event *e)
{
    struct control *c = &w->control;
    switch (e->type) {
    case SDL_QUIT:
        c->quit = true;
        break;
    case SDL_KEYDOWN:
        on_key(w, &e->key);
        break;
    case SDL_MOUSEMOTION:
        control_move(c, units(w, e->motion.x), units(w, e->motion.y));
        break;
    case SDL_MOUSEBUTTONDOWN:
        if (e->button.button == SDL_BUTTON_LEFT)
            control_press(c, units(w, e->button.x), units(w, e->button.y));
        break;
    case SDL_MOUSEBUTTONUP:
        if (e->button.button == SDL_BUTTON_LEFT)
            control_release(c, units(w, e->button.x), units(w, e->button.y));
        break;
    case SDL_MOUSEWHEEL: {
        int x, y;
        SDL_GetMouseState(&x, &y);
        control_wheel(c, units(w, x), units(w, y), e->wheel.y);
        break;
    }
    case SDL_WINDOWEVENT:
        c->dirty = true;
        break;
    default:
        break;
    }
}

/* The image as large as the window's surface. */
static bool fit_image(struct window *w, const SDL_Surface *surface)
{
    double wide, high;
    if (surface->w == w->image.width && surface->h == w->image.height)
        return true;
    image_free(&w->image);
    if (!image_new(&w->image, surface->w, surface->h))
        return false;
    view_units(surface->w, surface->h, &wide, &high);
    w->scale = surface->w / wide;
    w->control.view->width = surface->w;
    w->control.view->height = surface->h;
    control_resize(&w->control, wide, high);
    return true;
}

static void show(struct window *w)
{
    SDL_Surface *surface = SDL_GetWindowSurface(w->window);
    if (surface == NULL || surface->w <= 0 || !fit_image(w, surface))
        return;
    raster_draw(&w->image, control_draw(&w->control), w->control.view->theme, w->cache);
    SDL_Surface *ours =
        SDL_CreateRGBSurfaceWithFormatFrom(w->image.pixel, w->image.width, w->image.height, 32,
                                           w->image.width * 4, SDL_PIXELFORMAT_RGB888);
    if (ours != NULL)
        SDL_BlitSurface(ours, NULL, surface, NULL);
    SDL_FreeSurface(ours);
    SDL_UpdateWindowSurface(w->window);
    w->frames += w->control.open;
}

static void copy_out(struct control *c)
{
    if (c->copied == NULL)
        return;
    SDL_SetClipboardText(c->copied);
    printf("%s\n", c->copied);
    fflush(stdout);
    free(c->copied);
    c->copied = NULL;
}

static void loop(struct window *w)
{
    struct control *c = &w->control;
    Uint64 last = SDL_GetPerformanceCounter();
    while (!c->quit) {
        SDL_Event e;
        if (SDL_WaitEventTimeout(&e, control_busy(c) ? 8 : 500))
            do
                on_event(w, &e);
            while (SDL_PollEvent(&e));
        Uint64 now = SDL_GetPerformanceCounter();
        double seconds = (double)(now - last) / (double)SDL_GetPerformanceFrequency();
        last = now;
        control_tick(c, seconds < 0.1 ? seconds : 0.1);
        copy_out(c);
        if (c->dirty && !c->quit)
            show(w);
        c->quit = c->quit || (c->view->most_frames > 0 && w->frames >= c->view->most_frames);
    }
}

/* Does anything lead to a display?  Elsewhere than under X11 and Wayland SDL knows itself. */
static bool led_to_display(void)
{
#ifdef __linux__
    return getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL ||
           getenv("SDL_VIDEODRIVER") != NULL;
#else
    return true;
#endif
}

/* SDL draws into nothing, unasked, where there is no display. */
static bool invisible(void)
{
    const char *driver = SDL_GetCurrentVideoDriver();
    return getenv("SDL_VIDEODRIVER") == NULL && driver != NULL &&
           (strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0);
}

bool window_run(struct view *v, struct message *why)
{
    struct window w = {.cache = glyph_cache_new()};
    double wide, high;
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0"); /* else software goes through OpenGL */
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    if (w.cache == NULL)
        return refuse(why, "no memory");
    if (!led_to_display() || SDL_Init(SDL_INIT_VIDEO) != 0 || invisible()) {
        const char *said = led_to_display() ? SDL_GetError() : "";
        refuse(why, "no display: %s",
               said[0] != 0 ? said : "neither DISPLAY nor WAYLAND_DISPLAY is set");
        SDL_Quit();
        glyph_cache_free(w.cache);
        return false;
    }
    w.window =
        SDL_CreateWindow("flashulp view", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, v->width,
                         v->height, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (w.window == NULL) {
        refuse(why, "no window: %s", SDL_GetError());
        SDL_Quit();
        glyph_cache_free(w.cache);
        return false;
    }
    view_units(v->width, v->height, &wide, &high);
    control_start(&w.control, v, v->scenario.value[OPTION_AT], wide, high);
    loop(&w);
    v->failed = !w.control.open;
    control_end(&w.control);
    image_free(&w.image);
    glyph_cache_free(w.cache);
    SDL_DestroyWindow(w.window);
    SDL_Quit();
    return true;
}
