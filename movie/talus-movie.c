// talus-movie.c - pictures and samples in, a movie out: .webm (VP9 and Opus) or .mp4 (H.264 and AAC), by the file's
// name. A program of its own because FFmpeg's libraries, as Debian builds them, are under the GPL: talus and libtalus
// stay free of them, and run without this program. `talus-movie --codecs` tells what can be written.
#include "protocol/movie.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Track {
    AVCodecContext *codec;
    AVStream *stream;
    AVFrame *frame;
    int64_t next;  // time of the next frame, in units of the codec
} Track;

static struct {
    int width, height;  // of the pictures that come in
    AVRational rate;
    int sound_rate, quality;
    char path[MOVIE_PATH_MAX], aside[MOVIE_PATH_MAX + 64];
    AVFormatContext *file;
    Track video, audio;
    struct SwsContext *scaler;
    SwrContext *resampler;
    AVPacket *packet;
    uint8_t *pixels;
    bool has_picture;
} movie;

_Noreturn static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("talus-movie: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    if (*movie.aside)
        unlink(movie.aside);
    exit(1);
}

static int sure(int result, const char *what)
{
    char reason[AV_ERROR_MAX_STRING_SIZE];
    if (result < 0)
        fail("cannot %s: %s", what, av_make_error_string(reason, sizeof reason, result));
    return result;
}

static void *there(void *pointer)
{
    if (!pointer)
        fail("out of memory");
    return pointer;
}

static const AVCodec *first_encoder(const char *const *names)
{
    for (; *names; names++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(*names);
        if (codec)
            return codec;
    }
    return NULL;
}

// What a file's ending stands for, best encoder first.
static const struct Kind {
    const char *ending, *video[4], *audio[4];
} kinds[] = {
    { ".webm", { "libvpx-vp9", "libvpx" }, { "libopus", "libvorbis" } },
    { ".mp4", { "libx264", "libopenh264", "mpeg4" }, { "aac" } },
    { ".mkv", { "libx264", "libvpx-vp9", "mpeg4" }, { "libopus", "aac" } },
};

static const struct Kind *kind_of(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t ending = strlen(kinds[i].ending);
        if (length > ending && !strcmp(path + length - ending, kinds[i].ending))
            return &kinds[i];
    }
    return NULL;
}

static void read_header(void)
{
    char line[MOVIE_PATH_MAX + 128], format[64];
    snprintf(format, sizeof format, "talus-movie 1 %%d %%d %%d %%d %%d %%d %%%d[^\n]", MOVIE_PATH_MAX - 1);
    if (!fgets(line, sizeof line, stdin)
        || sscanf(line, format, &movie.width, &movie.height, &movie.rate.num, &movie.rate.den, &movie.sound_rate,
                  &movie.quality, movie.path)
               != 7)
        fail("the header is missing; this program is run by `talus`");
    if (movie.width < 2 || movie.height < 2 || movie.width > MOVIE_SIDE_MAX || movie.height > MOVIE_SIDE_MAX)
        fail("%d x %d pixels: 2 to %d a side can be written", movie.width, movie.height, MOVIE_SIDE_MAX);
    if (movie.rate.num < 1 || movie.rate.den < 1 || movie.quality < 1 || movie.quality > 100)
        fail("rate %d/%d, quality %d make no sense", movie.rate.num, movie.rate.den, movie.quality);
    if (movie.sound_rate != 0 && (movie.sound_rate < 8000 || movie.sound_rate > 192000))
        fail("a sound of %d samples a second cannot be written", movie.sound_rate);
}

static Track open_track(const AVCodec *codec)
{
    Track track = { .codec = there(avcodec_alloc_context3(codec)),
                    .stream = there(avformat_new_stream(movie.file, NULL)),
                    .frame = there(av_frame_alloc()) };
    if (movie.file->oformat->flags & AVFMT_GLOBALHEADER)
        track.codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return track;
}

static void begin_codec(Track *track, AVDictionary **options)
{
    sure(avcodec_open2(track->codec, track->codec->codec, options), "start the encoder");
    av_dict_free(options);
    sure(avcodec_parameters_from_context(track->stream->codecpar, track->codec), "describe the stream");
    track->stream->time_base = track->codec->time_base;
}

// One quality scale for all encoders: 50 is good for the web, 90 hardly differs from the pictures.
static void set_quality(AVDictionary **options, const char *codec)
{
    char crf[16];
    bool is_vp = !strncmp(codec, "libvpx", 6);
    snprintf(crf, sizeof crf, "%d", is_vp ? 56 - (int)(0.38 * movie.quality) : 40 - (int)(0.25 * movie.quality));
    av_dict_set(options, "crf", crf, 0);
    if (is_vp) {
        av_dict_set(options, "b", "0", 0);
        av_dict_set(options, "deadline", "realtime", 0);
        av_dict_set(options, "cpu-used", "6", 0);
        av_dict_set(options, "row-mt", "1", 0);
    } else {
        av_dict_set(options, "preset", "veryfast", 0);
    }
}

static void open_video(const struct Kind *kind)
{
    const AVCodec *encoder = first_encoder(kind->video);
    if (!encoder)
        fail("FFmpeg here has no encoder for %s movies", kind->ending);
    Track *track = &movie.video;
    *track = open_track(encoder);
    AVCodecContext *codec = track->codec;
    codec->width = movie.width & ~1;  // colours are stored at half the resolution
    codec->height = movie.height & ~1;
    codec->time_base = av_inv_q(movie.rate);
    codec->framerate = movie.rate;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    codec->colorspace = AVCOL_SPC_BT709;
    codec->color_primaries = AVCOL_PRI_BT709;
    codec->color_trc = AVCOL_TRC_BT709;
    codec->color_range = AVCOL_RANGE_MPEG;
    codec->gop_size = (int)(4 * av_q2d(movie.rate)) + 1;
    codec->thread_count = 2;
    AVDictionary *options = NULL;
    set_quality(&options, encoder->name);
    begin_codec(track, &options);
    track->stream->avg_frame_rate = movie.rate;
    track->frame->format = codec->pix_fmt;
    track->frame->width = codec->width;
    track->frame->height = codec->height;
    sure(av_frame_get_buffer(track->frame, 0), "make room for a picture");
    movie.scaler = there(sws_getContext(codec->width, codec->height, AV_PIX_FMT_RGBA, codec->width, codec->height,
                                        codec->pix_fmt, SWS_BILINEAR | SWS_ACCURATE_RND, NULL, NULL, NULL));
    const int *table = sws_getCoefficients(SWS_CS_ITU709);
    sws_setColorspaceDetails(movie.scaler, table, 1, table, 0, 0, 1 << 16, 1 << 16);
}

// The form of samples that an encoder likes best; FFmpeg 7.1 tells it by a call.
static enum AVSampleFormat sample_format_of(const AVCodec *encoder)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *formats = NULL;
    int count = 0;
    sure(avcodec_get_supported_config(NULL, encoder, AV_CODEC_CONFIG_SAMPLE_FORMAT, 0, &formats, &count),
         "convert the sound");
    return count > 0 ? *(const enum AVSampleFormat *)formats : AV_SAMPLE_FMT_FLTP;
#else
    return encoder->sample_fmts[0];
#endif
}

static void open_audio(const struct Kind *kind)
{
    const AVCodec *encoder = first_encoder(kind->audio);
    if (movie.sound_rate == 0)
        return;
    if (!encoder)
        fail("FFmpeg here has no encoder for the sound of %s movies", kind->ending);
    Track *track = &movie.audio;
    *track = open_track(encoder);
    AVCodecContext *codec = track->codec;
    codec->sample_rate = !strcmp(encoder->name, "libopus") ? 48000 : movie.sound_rate;
    codec->sample_fmt = sample_format_of(encoder);
    codec->bit_rate = 128000;
    codec->time_base = (AVRational){ 1, codec->sample_rate };
    av_channel_layout_default(&codec->ch_layout, 2);
    AVDictionary *options = NULL;
    begin_codec(track, &options);
    AVChannelLayout stereo;
    av_channel_layout_default(&stereo, 2);
    sure(swr_alloc_set_opts2(&movie.resampler, &codec->ch_layout, codec->sample_fmt, codec->sample_rate, &stereo,
                             AV_SAMPLE_FMT_S16, movie.sound_rate, 0, NULL),
         "convert the sound");
    sure(swr_init(movie.resampler), "convert the sound");
    track->frame->format = codec->sample_fmt;
    track->frame->sample_rate = codec->sample_rate;
    track->frame->nb_samples = codec->frame_size > 0 ? codec->frame_size : 1024;
    sure(av_channel_layout_copy(&track->frame->ch_layout, &codec->ch_layout), "convert the sound");
    sure(av_frame_get_buffer(track->frame, 0), "make room for the sound");
}

static void open_movie(void)
{
    const struct Kind *kind = kind_of(movie.path);
    if (!kind)
        fail("'%s' ends neither with .webm nor .mp4", movie.path);
    snprintf(movie.aside, sizeof movie.aside, "%s.%ld.tmp", movie.path, (long)getpid());
    const char *format = !strcmp(kind->ending, ".mkv") ? "matroska" : kind->ending + 1;
    sure(avformat_alloc_output_context2(&movie.file, NULL, format, movie.aside), "make the movie");
    sure(avio_open(&movie.file->pb, movie.aside, AVIO_FLAG_WRITE), "write the file");
    open_video(kind);
    open_audio(kind);
    movie.packet = there(av_packet_alloc());
    AVDictionary *options = NULL;
    av_dict_set(&options, "movflags", "+faststart", 0);
    sure(avformat_write_header(movie.file, &options), "write the file");
    av_dict_free(&options);
}

static void drain(Track *track)
{
    while (avcodec_receive_packet(track->codec, movie.packet) >= 0) {
        av_packet_rescale_ts(movie.packet, track->codec->time_base, track->stream->time_base);
        movie.packet->stream_index = track->stream->index;
        sure(av_interleaved_write_frame(movie.file, movie.packet), "write the file");
    }
}

static void take_bytes(void *out, size_t size)
{
    if (fread(out, 1, size, stdin) != size)
        fail("the movie was cut short");
}

static void add_picture(bool is_new)
{
    Track *track = &movie.video;
    if (is_new)
        take_bytes(movie.pixels, (size_t)movie.width * (size_t)movie.height * 4);
    else if (!movie.has_picture)
        fail("there is no picture to repeat");
    movie.has_picture = true;
    sure(av_frame_make_writable(track->frame), "make room for a picture");
    const uint8_t *rows[1] = { movie.pixels };
    int stride[1] = { 4 * movie.width };
    sws_scale(movie.scaler, rows, stride, 0, track->codec->height, track->frame->data, track->frame->linesize);
    track->frame->pts = track->next++;
    sure(avcodec_send_frame(track->codec, track->frame), "encode a picture");
    drain(track);
}

// Encoders want whole blocks: what is left waits in the resampler.
static void encode_sound(bool is_last)
{
    Track *track = &movie.audio;
    AVFrame *frame = track->frame;
    int block = track->codec->frame_size > 0 ? track->codec->frame_size : 1024;
    while (swr_get_delay(movie.resampler, track->codec->sample_rate) >= block || is_last) {
        frame->nb_samples = block;
        sure(av_frame_make_writable(frame), "make room for the sound");
        int count = sure(swr_convert(movie.resampler, frame->data, block, NULL, 0), "convert the sound");
        if (count <= 0)
            return;
        frame->nb_samples = count;
        frame->pts = track->next;
        track->next += count;
        sure(avcodec_send_frame(track->codec, frame), "encode the sound");
        drain(track);
    }
}

static void add_sound(void)
{
    uint32_t count;
    take_bytes(&count, sizeof count);
    if (movie.sound_rate == 0 || count > 1u << 22)
        fail("%u samples of sound were not asked for", count);
    int16_t *samples = there(malloc((size_t)count * 4 + 4));
    take_bytes(samples, (size_t)count * 4);
    const uint8_t *planes[1] = { (const uint8_t *)samples };
    sure(swr_convert(movie.resampler, NULL, 0, planes, (int)count), "convert the sound");
    free(samples);
    encode_sound(false);
}

static void finish(void)
{
    if (!movie.has_picture)
        fail("it has no picture");
    avcodec_send_frame(movie.video.codec, NULL);
    drain(&movie.video);
    if (movie.audio.codec) {
        encode_sound(true);
        avcodec_send_frame(movie.audio.codec, NULL);
        drain(&movie.audio);
    }
    sure(av_write_trailer(movie.file), "write the file");
    sure(avio_closep(&movie.file->pb), "write the file");
    int descriptor = open(movie.aside, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fsync(descriptor) < 0 || rename(movie.aside, movie.path) < 0)
        fail("cannot write '%s'", movie.path);
    close(descriptor);
}

static int list_codecs(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const AVCodec *video = first_encoder(kinds[i].video), *audio = first_encoder(kinds[i].audio);
        if (video)
            printf("%s %s %s\n", kinds[i].ending, video->name, audio ? audio->name : "-");
    }
    return 0;
}

int main(int argc, char **argv)
{
    av_log_set_level(AV_LOG_QUIET);
    if (argc == 2 && !strcmp(argv[1], "--codecs"))
        return list_codecs();
    // Interrupts are for the simulator, which then tells the end; and what is left must go even when nobody reads why.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    read_header();
    movie.pixels = there(malloc((size_t)movie.width * (size_t)movie.height * 4));
    open_movie();
    for (int kind; (kind = getchar()) != 'E';) {
        if (kind == 'V' || kind == 'R')
            add_picture(kind == 'V');
        else if (kind == 'A')
            add_sound();
        else
            fail(kind == EOF ? "the movie was cut short" : "it was told nonsense");
    }
    finish();
    return 0;
}
